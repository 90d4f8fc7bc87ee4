"""Opens reports in a browser (of certificates, of comparisons, of a whole reproduction): nothing is fetched, nothing goes wrong, controls change the figures, and
every number shown is that of certificate.json, rounded to the safe side.

  check_report.py --program build/surefoot --examples examples [--whole FOLDER] [--screenshots FOLDER]
"""

import argparse
import base64
import csv
import decimal
import gzip
import json
import math
import pathlib
import random
import subprocess
import sys
import tempfile
import urllib.parse

import chromium

SKIPPED = 77


def percent(share, certified):
    """As the report prints shares: one decimal, more near all of them; certified ones rounded down."""
    if certified and not share > 0:
        return "-"
    if share >= 1:
        return "100 %"
    decimals = 1 if share < 0.999 else 2 if share < 0.9999 else 3
    down = certified or share >= 0.9999
    exact = decimal.Decimal(share) * 100
    # The double nearest to 0.981 may lie below it: as a printed number 98.1 % does not exceed the share.
    rounded = exact.quantize(decimal.Decimal(1).scaleb(-decimals), decimal.ROUND_HALF_UP)
    if down and float(rounded.scaleb(-2)) > share:
        rounded -= decimal.Decimal(1).scaleb(-decimals)
    return f"{rounded:.{decimals}f} %"


def value(number, certified):
    """Three significant digits; certified ones rounded up."""
    if number is None or math.isinf(number):
        return "-" if certified else "inf"
    if number == 0:
        return "0"
    nearest = decimal.Decimal(f"{number:.2e}")
    if certified and float(nearest) < number:
        nearest += decimal.Decimal(1).scaleb(math.floor(math.log10(abs(float(nearest)))) - 2)
    plain = 1e-2 <= abs(number) < 1e5
    if not plain:
        mantissa, exponent = f"{nearest:.2e}".split("e")
        return f"{mantissa}e{int(exponent)}"
    places = max(0, 2 - math.floor(math.log10(abs(float(nearest)))))
    return f"{nearest:.{places}f}"


def is_spoken_of(choice, sentence):
    """As it is, or, where it is a tolerance of many digits, rounded to the side that claims less."""
    number, _, unit = choice.partition(" ")
    try:
        return choice in sentence or f"{value(float(number), True)} {unit}".strip() in sentence
    except ValueError:
        return False


def share_of(text):
    """98.1 of "98.1 %"; a guarantee of nothing is of 0 %."""
    return 0.0 if text == "-" else float(text.removesuffix(" %"))


def ask(program, folder, claim, variant):
    """What the program answers: exit code and text."""
    done = subprocess.run([program, "ask", folder / "certificate.json", "--claim", claim, "--variant", variant], capture_output=True, text=True)
    return done.returncode, done.stdout


SET_FREE = """(() => {
  const place = document.querySelector(".free");
  const control = (name) => [...place.querySelectorAll(".control")].find(c => c.textContent.startsWith(name))?.querySelector("select, input");
  const set = (name, value, event) => { const c = control(name); if (!c) return; c.value = value; c.dispatchEvent(new Event(event)); };
  set("Variant", "%d", "change"); set("Holds", "%s", "change");
  for (const [name, part] of [["Iteration", %f], ["Tolerance", %f], ["Share", %f]])
    set(name, String(Math.round(part * Number(control(name).max))), "input");
  const [share, value] = [...place.querySelectorAll(".answer")];
  const [step, tolerance, wanted] = [...place.querySelectorAll("output")].map(o => o.textContent);
  return { step: step.replaceAll(",", ""), tolerance, wanted, share: share.dataset.share, value: value.dataset.value,
           sentences: share.textContent + value.textContent };
})()"""


def check_free_choice(browser, checks, folder, certificate, program):
    """What the sliders say is what the program answers, and no stronger claim is certified."""
    bands = certificate["claims"].get("band", [])
    checks.same(browser.evaluate("document.querySelectorAll('.free').length"), 1 if bands else 0, "places to choose after looking")
    if not bands:
        return
    certified = 0
    for place, variant in enumerate(v["name"] for v in certificate["variants"]):
        for when in ("within", "after"):
            for parts in ((1, 0.5, 0.9), (0.6, 0.7, 0.5), (0.3, 0.9, 0.98)):
                shown = browser.evaluate(SET_FREE % (place, when, *parts))
                tolerance = shown["tolerance"].split(" ")[0]
                code, text = ask(program, folder, f"below {tolerance} {when} {shown['step']}", variant)
                where = f"{variant}, {shown['tolerance']} {when} {shown['step']}"
                checks.same(code, 1 if shown["share"] == "-" else 0, f"{where}: certified")
                if code == 0:
                    checks.expect(f"at least {shown['share']} of" in text, f"{where}: {shown['share']} is not what the program says: {text}")
                    certified += 1
                if shown["value"] == "-":
                    continue
                wanted = shown["wanted"].replace(" %", "%")
                holds, text = ask(program, folder, f"{wanted} at most {shown['value']} {when} {shown['step']}", variant)
                checks.same(holds, 0, f"{where}: {wanted} at most {shown['value']}: {text}")
                smaller = float(shown["value"]) - abs(float(shown["value"])) * 1e-3
                checks.same(ask(program, folder, f"{wanted} at most {smaller} {when} {shown['step']}", variant)[0], 1,
                            f"{where}: {wanted} at most {smaller} is certified too")
    checks.expect(certified > 2, f"{certified} of the choices are certified")


def expected_readings(certificate, chart):
    """{(variant, parameter): {step: (certified, observed)}} from the certificate."""
    readings = {}
    for claim in certificate["claims"]["success_rate" if chart == "success" else "quantile"]:
        if chart == "success":
            parameter, text = claim["tolerance"], (percent(claim["lower_bound"] or 0, True), percent(claim["empirical"], False))
        else:
            parameter, text = claim["quantile"], (value(claim["upper_bound"], True), value(claim["empirical"], False))
        readings.setdefault((claim["variant"], parameter), {})[claim["step"]] = list(text)
    return readings


READ_ALL = """(() => {
  const figure = document.querySelector('figure[data-chart="%s"]');
  const [variants, parameters] = ["Variant", "%s"].map(name =>
    [...figure.querySelectorAll(".control")].find(c => c.textContent.startsWith(name))?.querySelector("select"));
  const slider = figure.querySelector("input[type=range]");
  const choose = (select, value) => { if (!select) return; select.value = value; select.dispatchEvent(new Event("change")); };
  const all = [];
  const count = variants ? variants.options.length - 1 : 1;
  for (let v = 0; v < count; ++v) {
    for (let p = 0; p < parameters.options.length - 1; ++p) {
      choose(variants, String(v)); choose(parameters, String(p));
      const readings = {};
      for (let i = 0; i <= Number(slider.max); i += %d) {
        slider.value = String(i); slider.dispatchEvent(new Event("input"));
        const row = figure.querySelector(".readout tbody tr");
        readings[slider.getAttribute("aria-valuetext").split(" ")[1]] =
          [row.querySelector(".certified").textContent, row.querySelector(".observed").textContent];
      }
      all.push({ variant: v, parameter: p, readings });
    }
  }
  choose(variants, "0"); choose(parameters, "all");
  return all;
})()"""

# With the labels of the axes: grid lines may lie at the same places after zooming.
CANVASES = """(() => { const figure = document.querySelector('figure[data-chart="%s"]');
  return [...figure.querySelectorAll('canvas')].map(c => c.toDataURL()).join() + figure.querySelector('.canvas').textContent; })()"""


class Checks:
    def __init__(self):
        self.failed = 0
        self.done = 0

    def expect(self, holds, what):
        self.done += 1
        if not holds:
            self.failed += 1
            print(f"FAILED  {what}")

    def same(self, got, wanted, what):
        self.expect(got == wanted, f"{what}: {got!r}, expected {wanted!r}")


VISIBLE_PANELS = "[...document.querySelectorAll('.panel svg')].filter(p => p.getBoundingClientRect().width > 100).length"
LIVE_FIGURES = "document.querySelectorAll('figure.live').length"


def charts_of(certificate):
    claims = certificate["claims"]
    return [chart for chart, kind in (("success", "success_rate"), ("quantiles", "quantile")) if claims[kind]]


def open_page(browser, checks, page, largest):
    checks.expect(page.stat().st_size < largest, f"{page} is {page.stat().st_size} bytes")
    browser.resize(1400)
    browser.media()
    browser.open(page)
    check_silence(browser, checks, page, "when opened")


def check_silence(browser, checks, page, when):
    checks.same(browser.problems, [], f"{page}: console {when}")
    asked = [address for address in browser.requests if not address.startswith("data:")]  # pictures in the page itself
    checks.same(asked, [page.absolute().as_uri()], f"{page}: requests {when}")


VERDICT = """new Promise(done => {
  const wait = () => { const v = document.getElementById('%s').dataset.verdict; v && v !== 'running' ? done(v) : setTimeout(wait, 20); };
  wait();
})"""


def verdict(browser, place="self-check"):
    """What the page finds when it checks itself."""
    return browser.evaluate(VERDICT % place)


def all_claims(certificate):
    return sum(len(claims) for claims in certificate["claims"].values())


def check_self_check(browser, checks, page, certificate):
    """Every claim is recomputed when the page is opened, and again by the button; the date is said to be that of the file."""
    verdict(browser)
    checks.expect("file last changed" in browser.evaluate("document.getElementById('written')?.textContent ?? ''"), f"{page}: what the date is of")
    for _ in range(2):
        checks.same(verdict(browser), "holds", f"{page}: what the page finds: {browser.evaluate('document.getElementById(`self-check`).textContent')}")
        box = browser.evaluate("({...document.querySelector('#self-check details').dataset})")
        checks.same(box, {"checked": str(all_claims(certificate)), "claims": str(all_claims(certificate))}, f"{page}: claims recomputed")
        browser.evaluate("[...document.querySelectorAll('#self-check button')].find(b => b.textContent === 'Check again').click()")


def changed_certificate(text, old, new):
    """The text of a page whose certificate inside has another text."""
    begin = text.index('id="certificate">') + len('id="certificate">')
    end = text.index("</script>", begin)
    inside = gzip.decompress(base64.b64decode(text[begin:end])).decode()
    assert inside.count(old) >= 1, old
    packed = base64.b64encode(gzip.compress(inside.replace(old, new, 1).encode())).decode()
    return text[:begin] + packed + text[end:]


def check_tampering(browser, checks, folder, scratch):
    """A changed number is found: in the text, in what is drawn, in the certificate inside."""
    text = (folder / "report.html").read_text()
    claim = json.loads((folder / "certificate.json").read_text())["claims"]["success_rate"][-1]
    count, bound = f'"failures": {claim["failures"]}', f'"lower_bound": {claim["lower_bound"]}'
    body = text.index('<section id="success"')
    cell = text.index("<td>", body)
    changes = {
        "a cell of a table": (text[:cell] + "<td>9" + text[cell + 4:], "the text of this page has been changed"),
        "a number that is drawn": (text.replace('"certified":[', '"certified":[0.5,', 1), "the text of this page has been changed"),
        "a count in the certificate": (changed_certificate(text, count, f'"failures": {claim["failures"] + 1}'), "digest"),
        "a bound in the certificate": (changed_certificate(text, bound, '"lower_bound": 0.999'), "success rates"),
        "the certificate, cut off": (changed_certificate(text, '"claims"', '"cla'), "read"),
    }
    for what, (page_text, named) in changes.items():
        checks.expect(page_text != text, f"{what}: the page is another one")
        page = scratch / "changed.html"
        page.write_text(page_text)
        browser.open(page)
        checks.same(verdict(browser), "wrong", f"{what} was changed")
        shown = browser.evaluate("document.getElementById('self-check').textContent")
        checks.expect(named in shown, f"{what}: '{named}' is not in: {shown[:300]}")
        checks.same(browser.evaluate("document.querySelectorAll('#self-check [role=alert]').length"), 1, f"{what}: it is said aloud")
    page = scratch / "unknown.html"  # a kind of claims of a later version is named, and never passed over
    page.write_text(changed_certificate(changed_certificate(text, '"success_rate": [', '"later_kind": ['), '"parts": [\n  "success_rate"', '"parts": [\n  "later_kind"'))
    browser.open(page)
    checks.expect(verdict(browser) != "holds", "a kind that is not known does not pass")
    shown = browser.evaluate("document.getElementById('self-check').textContent")
    checks.expect("'later_kind'" in shown, f"the kind that is not known is not named: {shown[:300]}")


ACCESSIBILITY = """(() => {
  const found = [];
  const seen = (e) => e.checkVisibility ? e.checkVisibility() : e.offsetParent !== null;
  const name = (e) => (e.getAttribute("aria-label") ?? "") + [...(e.labels ?? [])].map(l => l.textContent).join("") + (e.tagName === "BUTTON" ? e.textContent : "") + (e.title ?? "");
  for (const e of document.querySelectorAll("input, select, button")) if (seen(e) && name(e).trim() === "") found.push(`no name: ${e.outerHTML.slice(0, 90)}`);
  for (const e of document.querySelectorAll("[role=img], [role=region], main svg, nav, canvas")) {
    const image = e.tagName === "svg" || e.tagName === "CANVAS" ? e.closest("[role=img]") ?? e : e;
    if (!(image.getAttribute("aria-label") ?? "").trim() && !image.querySelector("title")) found.push(`no text for: ${e.outerHTML.slice(0, 90)}`);
  }
  for (const e of document.querySelectorAll(".scroll")) if (e.tabIndex < 0 && e.querySelector("table") && e.scrollWidth > e.clientWidth) found.push(`not reached by keyboard: ${e.className}`);
  for (const e of document.querySelectorAll("th")) if (!e.scope) found.push(`a heading without scope: ${e.textContent.slice(0, 40)}`);
  const headings = [...document.querySelectorAll("h1,h2,h3,h4")].map(h => Number(h.tagName[1]));
  if (headings.filter(h => h === 1).length !== 1) found.push("not one h1");
  headings.forEach((h, i) => { if (i > 0 && h > headings[i - 1] + 1) found.push(`h${h} after h${headings[i - 1]}`); });
  const ids = [...document.querySelectorAll("[id]")].map(e => e.id);
  if (new Set(ids).size !== ids.length) found.push("an id is given twice");
  if (!document.documentElement.lang) found.push("no language");
  const channels = (color) => color.match(/[0-9.]+/g).map(Number);
  const luminance = ([r, g, b]) => [r, g, b].map(c => c / 255).map(c => c <= 0.03928 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4).reduce((sum, c, i) => sum + c * [0.2126, 0.7152, 0.0722][i], 0);
  const behind = (e) => { for (; e; e = e.parentElement) { const c = channels(getComputedStyle(e).backgroundColor); if (c.length === 3 || c[3] === 1) return c; } return [255, 255, 255]; };
  let texts = 0;
  for (const e of document.querySelectorAll("body *")) {
    if (e.closest("svg, script, style, option") || !seen(e) || ![...e.childNodes].some(n => n.nodeType === 3 && n.data.trim())) continue;
    const style = getComputedStyle(e), [one, two] = [luminance(channels(style.color)), luminance(behind(e))].sort((a, b) => b - a);
    const ratio = (one + 0.05) / (two + 0.05), large = parseFloat(style.fontSize) >= 24 || (parseFloat(style.fontSize) >= 18.66 && Number(style.fontWeight) >= 700);
    texts += 1;
    if (ratio < (large ? 3 : 4.5)) found.push(`contrast ${ratio.toFixed(2)}: ${e.tagName} '${e.textContent.trim().slice(0, 40)}'`);
  }
  return { texts, found: [...new Set(found)].slice(0, 8) };
})()"""


def check_accessibility(browser, checks, page):
    """Names for controls and pictures, order of headings, contrast, what the keyboard reaches."""
    for scheme in ("light", "dark"):
        browser.media("screen", scheme)
        browser.settle()
        result = browser.evaluate(ACCESSIBILITY)
        checks.same(result["found"], [], f"{page}, {scheme}: accessibility")
        checks.expect(result["texts"] > 10, f"{page}, {scheme}: {result['texts']} texts were looked at")
    browser.media()
    reached = set()
    browser.evaluate("document.activeElement.blur()")
    for _ in range(400):
        browser.key("Tab", 9)
        at = browser.evaluate("""(() => { const e = document.activeElement;
          if (e === document.body) return "";
          const style = getComputedStyle(e);
          return [[...document.querySelectorAll('*')].indexOf(e), style.outlineStyle !== 'none' || e.type === 'range' || e.type === 'file'].join(); })()""")
        if at in reached or (at == "" and reached):
            break
        reached.add(at)
        checks.expect(at == "" or at.endswith("true"), f"{page}: focus is not seen at element {at}")
    wanted = browser.evaluate("""[...document.querySelectorAll('a[href], button, select, input, summary, .scroll[tabindex]')]
      .filter(e => e.checkVisibility() && !e.disabled).length""")
    checks.expect(len(reached - {""}) >= min(wanted, 380), f"{page}: the keyboard reaches {len(reached)} of {wanted} controls")


def check_certify_page(browser, checks, page, program, traces, scratch):
    """certify.html: a table's claims are the program's, a certificate is checked, nothing is asked of the network."""
    browser.resize(1200)
    browser.media()
    browser.open(page)

    def choose(path):
        browser.evaluate("document.getElementById('file').value = ''; delete document.getElementById('result').dataset.verdict; delete document.getElementById('result').dataset.claims")
        root = browser.call("DOM.getDocument")["root"]["nodeId"]
        node = browser.call("DOM.querySelector", nodeId=root, selector="#file")["nodeId"]
        browser.call("DOM.setFileInputFiles", files=[str(path.absolute())], nodeId=node)
        browser.evaluate("""new Promise(done => { const wait = () => { const d = document.getElementById('result').dataset;
          d.claims || d.verdict ? done() : setTimeout(wait, 20); }; wait(); })""")

    def declare(**settings):
        for name, value in settings.items():
            browser.evaluate(f"(() => {{ const e = document.getElementById('{name}'); e.value = '{value}'; }})()")

    declared = [("1e-4,1e-3,1e-2,1e-1", "", "", "0.99"), ("1e-3,1e-2", "0.5,0.9", "1,5,50,150", "0.95")]
    tables = [traces / "osqp_mpc_cold.csv.gz", scratch / "spoilt.csv"]
    tables[1].write_text("problem,k=1,k=5,k=50,k=150\n" + "".join(
        f"{i},{i * 0.37 % 1 + 0.2},{'inf' if i == 7 else i * 0.61 % 1 * 0.1},{'nan' if i == 9 else i * 0.77 % 1 * 0.01},{i * 0.29 % 1 * 0.002}\n" for i in range(300)))
    for table in tables:
        for number, (tolerances, shares, steps, confidence) in enumerate(declared):
            if number == 0 and table == tables[1]:
                continue
            browser.open(page)  # what was declared before is forgotten with the page
            declare(tolerances=tolerances, quantiles=shares, steps=steps, confidence=confidence)
            choose(table)
            folder = scratch / f"of-{table.name}-{number}"
            options = ["--choose", "before", "--tolerances", tolerances, "--confidence", confidence, "--allow-dependence", "--out", folder]
            options += ["--quantiles", shares] if shares else []
            options += ["--steps", steps] if steps else []
            subprocess.run([program, "certify", table, *options], check=True, stdout=subprocess.DEVNULL)
            claims = json.loads((folder / "certificate.json").read_text())["claims"]
            saved = browser.evaluate("document.querySelector('#result a[download]').href")
            rows = list(csv.DictReader(urllib.parse.unquote(saved.split(",", 1)[1]).splitlines()))
            checks.same({row["note"] for row in rows}, {""}, f"{table.name}: declared before")
            checks.same(len(rows), sum(map(len, claims.values())), f"{table.name}: claims")
            known = {("success", str(c["step"]), c["tolerance"], None): c for c in claims["success_rate"]}
            known |= {("quantile", str(c["step"]), None, c["quantile"]): c for c in claims["quantile"]}
            known |= {("budget", "", c["tolerance"], c["quantile"]): c for c in claims["iteration_budget"]}
            for row in rows:
                key = (row["claim"], row["iteration"], float(row["tolerance"]) if row["tolerance"] else None, float(row["share"]) if row["share"] else None)
                claim = known.pop(key)
                where = f"{table.name}: {key}"
                if row["claim"] == "success":
                    checks.same(int(row["count"]), claim["failures"], f"{where}: failures")
                    checks.expect(0 <= claim["lower_bound"] - float(row["certified"]) <= 1e-9, f"{where}: {row['certified']} is not {claim['lower_bound']}, rounded outward")
                elif row["claim"] == "quantile":
                    checks.same(int(row["count"]), claim["rank"], f"{where}: rank")
                    checks.same(float(row["certified"]), math.inf if claim["upper_bound"] is None else claim["upper_bound"], f"{where}: bound")
                    checks.same(float(row["observed"]), math.inf if claim["empirical"] is None else claim["empirical"], f"{where}: observed")
                else:
                    checks.same((int(row["count"]), row["certified"], row["observed"]), (claim["rank"], str(claim["steps"] or ""), str(claim["empirical"] or "")), where)
            checks.same(len(known), 0, f"{table.name}: claims that the page does not make")
    check_accessibility(browser, checks, page)
    refused = {"ragged.csv": ("0.1,0.2,0.3\n1,2\n", "row 2"), "words.csv": ("0.1,0.2\n0.3,hello\n", "'hello'"), "empty.csv": ("", "empty"), "headed.csv": ("k=1,k=5\n", "no rows"),
               "times.csv": ("t=0.1,t=0.2\n1,2\n", "'t=0.1'"), "labels.csv": ("k=1,step 2\n1,2\n", "different things")}
    for name, (text, named) in refused.items():
        (scratch / name).write_text(text)
        choose(scratch / name)
        shown = browser.evaluate("document.querySelector('#result [role=alert]')?.textContent ?? ''")
        checks.expect(named in shown and name in shown, f"{name}: '{named}' is not in '{shown}'")
    check_reading(browser, checks, choose, page, program, scratch)
    check_changed_declaration(browser, checks, choose, declare, page, scratch)
    certificate = scratch / f"of-{tables[0].name}-0" / "certificate.json"
    choose(certificate)
    checks.same(verdict(browser, "result"), "holds", "a certificate is checked")
    text = certificate.read_text()
    dropped = text.replace('"failures": 1000', '"failures": 999', 1)
    browser.evaluate("""(() => { const transfer = new DataTransfer(); transfer.items.add(new File([%s], "changed.json"));
      delete document.getElementById('result').dataset.verdict;
      document.getElementById('drop').dispatchEvent(new DragEvent("drop", { dataTransfer: transfer, bubbles: true, cancelable: true })); })()""" % json.dumps(dropped))
    checks.same(verdict(browser, "result"), "wrong", "a changed certificate that is dropped")
    check_silence(browser, checks, page, "after use")


# Tables that are easily misread: name, text, what page and program both say of it (None: both read it).
READINGS = [
    ("first row grows by factors", "1,10,100\n0.5,0.2,0.1\n0.4,0.3,0.2\n", "first row (1 .. 100) may say"),
    ("two columns", "10,100\n0.5,0.2\n0.4,0.3\n", "first row (10 .. 100) may say"),
    ("whole numbers", "1,2,3\n4,5,6\n7,8,8\n", "first row (1 .. 3) may say"),
    ("steps in the first row", "5,10,15\n0.5,0.2,0.1\n0.4,0.3,0.2\n", None),
    ("steps in the first row, a second row of infinities", "5,10,15\ninf,inf,inf\n0.4,0.3,0.2\n", "first row (5 .. 15) may say"),
    ("whole numbers that fall", "9,5,2\n8,4,1\n", None),
    ("a single row", "1,2,3\n", None),
    ("decimal commas", "0,0503\n0,0412\n0,0391\n", "decimal commas"),
    ("decimal commas in two columns", "1,05;0,5\n2,05;0,4\n", "label '1,05' says no step"),
    ("semicolons", "k=1;k=5\n0.5;0.1\n0.4;0.2\n", None),
    ("tabs", "k=1\tk=5\n0.5\t0.1\n0.4\t0.2\n", None),
    ("a failed first run", "timeout,2,3,4\n0.5,0.4,0.3,0.2\n", "'timeout' says that a run failed"),
    ("a failed first run in the middle", "0.5,timeout,timeout\n0.5,0.4,0.3\n", "stands twice"),
    ("a word in the first run", "0.5,diverged,0.3\n0.5,0.4,0.3\n", "is no label"),
    ("a failed word in a later run", "k=1,k=2\n0.5,timeout\n", "'timeout' is not a number"),
    ("a first column of means", "mean,k=1,k=2\n0.5,0.4,0.3\n0.4,0.3,0.2\n", None),
    ("an index column", ",5,10,15\n0,0.5,0.2,0.1\n1,0.4,0.3,0.2\n", None),
    ("quoted labels", '"k=1","k=2"\n0.5,0.4\n', None),
    ("brackets", "step[1],step[2]\n0.5,0.4\n", None),
    ("times of pandas", "1.0,2.0,k\n0.5,0.4,0.3\n", "is no"),
    ("negative labels", "k-1,k-2\n0.5,0.4\n", "says no step"),
    ("labels that fall", "k=5,k=2\n0.5,0.4\n", "do not increase"),
    ("labels with a thousand", "k=1e3,k=2e3\n0.5,0.4\n", None),
    ("names", "cold,warm\n0.5,0.4\n", "does not say increasing steps"),
    ("an empty cell", "k=1,k=2\n0.5,\n", "empty cell"),
    ("a blank line inside", "k=1,k=2\n0.5,0.4\n\n0.5,0.4\n", "blank line inside"),
    ("blank lines at the end", "k=1,k=2\n0.5,0.4\n\n\n", None),
    ("a blank first line", "\nk=1,k=2\n0.5,0.4\n", "first line is blank"),
    ("carriage returns and a mark", "\ufeffk=1,k=2\r\n0.5,0.4\r\n", None),
    ("a NUL", "k=1,k=2\n0.5,0\0.4\n", "NUL"),
    ("not UTF-8", b"k=1,\xffk=2\n0.5,0.4\n", "UTF-8"),
]


def check_reading(browser, checks, choose, page, program, scratch):
    """The page reads tables as the program does: the same iterations, and what the program refuses is refused with the same words."""
    for number, (what, text, refusal) in enumerate(READINGS):
        table, folder = scratch / f"reading-{number}.csv", scratch / f"reading-{number}"
        table.write_bytes(text if isinstance(text, bytes) else text.encode())
        done = subprocess.run([program, "certify", table, "--choose", "before", "--allow-dependence", "--tolerances", "0.1", "--out", folder], capture_output=True, text=True)
        checks.same(done.returncode, 2 if refusal else 0, f"{what}: the program: {done.stderr}")
        browser.open(page)
        choose(table)
        shown = browser.evaluate("document.getElementById('result').textContent")
        refused = browser.evaluate("document.getElementById('result').dataset.verdict ?? ''")
        checks.same(refused, "refused" if refusal else "", f"{what}: {shown[:200]}")
        if refusal:
            checks.expect(refusal in done.stderr and refusal in shown, f"{what}: '{refusal}' is not said by both: {done.stderr} | {shown}")
            continue
        certificate = json.loads((folder / "certificate.json").read_text())
        steps = sorted({claim["step"] for claim in certificate["claims"]["success_rate"]})
        rows = browser.evaluate("[...document.querySelectorAll('#result .scroll[aria-label=\"Success rates\"] tbody th')].map(e => Number(e.textContent))")
        checks.same((rows, certificate["variants"][0]["samples"]), (steps, int(shown.split(": ")[1].split(" ")[0])), f"{what}: iterations and problems")
        checks.same("The first column ('mean') is not certified" in shown, text.startswith("mean"), f"{what}: a column that is left out is named")


def check_changed_declaration(browser, checks, choose, declare, page, scratch):
    """What is declared after results were shown is not covered by the confidence: page and file say so, until the first declaration is back."""
    words = "changed after results were shown: not covered by the confidence"
    table, other = scratch / "declared.csv", scratch / "declared-new.csv"
    for path, shift in ((table, 0.37), (other, 0.41)):
        path.write_text("k=1,k=2,k=3\n" + "".join(f"{i * shift % 1 + 0.1},{i * shift % 1 * 0.1},{i * shift % 1 * 0.01}\n" for i in range(200)))
    first = {"tolerances": "1e-2,1e-1", "quantiles": "0.5", "steps": "", "confidence": "0.9"}

    def now(what, covered):
        shown = browser.evaluate("document.getElementById('result').textContent")
        saved = urllib.parse.unquote(browser.evaluate("document.querySelector('#result a[download]').href").split(",", 1)[1])
        notes = {row["note"] for row in csv.DictReader(saved.splitlines())}
        checks.same((words in shown, notes), (not covered, {""} if covered else {words}), what)
        checks.same("all of these hold together" in shown, covered, f"{what}: what is said of the claims")

    for name, value in (("tolerances", "1e-2,2e-1"), ("quantiles", "0.5,0.9"), ("steps", "2,3"), ("confidence", "0.8")):
        browser.open(page)
        declare(**first)
        choose(table)
        now(f"{name}: declared first", True)
        for change, covered in ((value, False), (first[name], True), (value, False)):
            declare(**{name: change})
            browser.evaluate("document.getElementById('declared').dispatchEvent(new Event('change'))")
            now(f"{name}: {change} after {first[name]}", covered)
        choose(table)
        now(f"{name}: the same table again", False)
        choose(other)
        now(f"{name}: another table, for which it was declared before", True)


def check_old_certificates(browser, checks, page, folder, names):
    """Certificates of other kinds and of the first format hold in the browser as they do in the program."""
    browser.open(page)
    for path in names:
        result = browser.evaluate(f"surefootChecker.check({json.dumps(path.read_text())})")
        checks.same((result["verdict"], result["checked"]), ("holds", all_claims(json.loads(path.read_text()))), f"{path.name}: {result['findings'][:2]}")


def make_certificates(program, examples, folder):
    """A certificate of every kind of work that makes one; {what: its files}."""
    traces, cartpole, mpc = examples / "traces", examples / "cartpole", examples / "mpc"
    times, monday, tuesday = folder / "times.csv", folder / "monday.csv", folder / "tuesday.csv"
    drawn = random.Random(0)
    times.write_text("runtime (ms)\n" + "".join(f"{drawn.uniform(1, 40)}\n" for _ in range(300)))
    for day in (monday, tuesday):
        day.write_text("k=1,k=5,k=20\n" + "".join(f"{drawn.uniform(0.2, 1.2)},{drawn.uniform(0, 0.1)},{drawn.uniform(0, 0.01)}\n" for _ in range(200)))
    kept = traces / "osqp_mpc_warm.csv.gz"
    made = {
        "groups": [["certify", examples / "logs/flights.csv.gz", "--group", "flight", "--tolerances", "1e-4,1e-3,1e-2", "--quantiles", "0.5,0.9"]],
        "scalar": [["certify", times, "--scalar", "--tolerances", "10,30"]],
        "shift": [["certify", traces / "osqp_mpc_cold.csv.gz", "--shift", "kl:0.02"]],
        "worst case": [["certify", kept, "--worst-case", "averaged:0.5", "--dist0", "40"]],
        "appended": [["certify", monday, "--anytime"], ["certify", tuesday, "--append", "appended"]],
        "loop": [["run", "loop", cartpole, "--rollouts", "200", "--ticks", "10", "--limits", "5,20"]],
        "tune": [["tune", "qp", mpc, "--target", "90% below 1e-3", "--runs", "20000"]],
    }
    found = {}
    for what, commands in made.items():
        for command in commands:
            subprocess.run([program.absolute(), *command, "--out", what.replace(" ", "-")], cwd=folder, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        found[what] = sorted((folder / what.replace(" ", "-")).rglob("certificate.json"))
    return found


def check_kinds_of_work(browser, checks, page, program, examples, folder):
    """Certificates of all kinds of work: each claim is recomputed, and each part is known or named as not recomputed."""
    browser.open(page)
    named = {"shift": "shift", "worst case": "worst case", "appended": "appended", "loop": "closed loop"}
    for what, paths in make_certificates(program, examples, folder).items():
        checks.expect(len(paths) >= (4 if what == "loop" else 1), f"{what}: {len(paths)} certificates")
        said = ""
        for path in paths:
            certificate = json.loads(path.read_text())
            result = browser.evaluate(f"surefootChecker.check({json.dumps(path.read_text())})")
            where = f"{what}: {path.relative_to(folder)}"
            checks.same((result["verdict"], result["checked"], result["findings"]), ("holds", all_claims(certificate), []), where)
            checks.same([text for text in result["leftOut"] if "does not know" in text], [], f"{where}: parts that are not known")
            said += " ".join(result["leftOut"])
            # A number of any claim that is changed is found, whatever the digest says.
            for kind in filter(certificate["claims"].get, certificate["claims"]):
                spoilt = json.loads(path.read_text())
                spoilt["claims"][kind][0]["samples"] += 1
                found = browser.evaluate(f"(async () => {{ {SEAL} return surefootChecker.check(seal({json.dumps(json.dumps(spoilt))})); }})()")
                checks.same((found["verdict"], any("digest" in text for text in found["findings"])), ("wrong", False), f"{where}: samples of {kind} changed")
        checks.expect(named.get(what, "") in said, f"{what}: what is not recomputed is not named: {said}")


# The text of a certificate with the digest that it would have.
SEAL = """const seal = (text) => { const value = JSON.parse(text); const bare = { ...value }; delete bare.digest;
  value.digest = { algorithm: "sha256", value: surefootChecker.sha256OfText(surefootChecker.digestedText(JSON.stringify(bare))) }; return JSON.stringify(value); };"""


def check_same_names(browser, checks, page, certificate):
    """Two variants of one name, as no program of ours writes them, are two variants."""
    browser.open(page)
    foreign = json.loads(certificate.read_text())
    for variant in foreign["variants"]:
        variant["name"] = "solver"
    result = browser.evaluate(f"(async () => {{ {SEAL} return surefootChecker.check(seal({json.dumps(json.dumps(foreign))})); }})()")
    checks.same((result["verdict"], result["findings"]), ("holds", []), "two variants of one name")
    foreign["claims"]["success_rate"].append(foreign["claims"]["success_rate"][0])
    result = browser.evaluate(f"(async () => {{ {SEAL} return surefootChecker.check(seal({json.dumps(json.dumps(foreign))})); }})()")
    checks.expect(any("made twice" in text for text in result["findings"]), f"a claim that stands twice is found: {result['findings'][:3]}")


def check_page(browser, checks, folder, program):
    """The report of one certificate."""
    page = folder / "report.html"
    certificate = json.loads((folder / "certificate.json").read_text())
    charts = charts_of(certificate)
    open_page(browser, checks, page, 1_500_000)
    check_self_check(browser, checks, page, certificate)
    check_accessibility(browser, checks, page)
    checks.same(browser.evaluate(LIVE_FIGURES), len(charts), "interactive figures")
    checks.same(browser.evaluate("[...document.querySelectorAll('figure.live .panel')].filter(p => p.offsetParent).length"), 0,
                "static panels in sight")
    check_charts(browser, checks, certificate)
    check_question(browser, checks, certificate)
    check_free_choice(browser, checks, folder, certificate, program)
    check_silence(browser, checks, page, "after use")
    check_other_views(browser, checks, page, len(certificate["variants"]) * len(charts))


def check_whole(browser, checks, folder):
    """The page of a whole reproduction: every main certificate as in its own report, the tables as in their files."""
    page = folder / "report.html"
    open_page(browser, checks, page, 8_000_000)
    checks.same(verdict(browser), "partly", f"{page}: its text; claims are recomputed in other pages")
    figures, panels = 0, 0
    for mark in sorted(folder.glob("*/finished.json")):
        record = json.loads(mark.read_text())["record"]
        name = mark.parent.name
        mains = [c["folder"] for c in record["certificates"] if c["main"]]
        checks.expect(len(mains) > 0, f"{name} has a main certificate")
        for number, inside in enumerate(mains, 1):
            certificate = json.loads((mark.parent / inside / "certificate.json").read_text())
            prefix = f"{name}-{number}-"
            check_charts(browser, checks, certificate, prefix, stride=9, use=number == 1)
            check_question(browser, checks, certificate, f"{prefix}ask")
            figures += len(charts_of(certificate))
            panels += len(certificate["variants"]) * len(charts_of(certificate))
        panels += sum(len(figure["panels"]) for figure in record["figures"])
        for table in record["tables"]:
            shown = browser.evaluate("""[...document.querySelectorAll('#experiment-%s h4')].filter(h => h.textContent === %s)
                .map(h => [...h.nextElementSibling.querySelectorAll('tbody tr')].map(r => [...r.children].map(c => c.textContent)))[0]"""
                                     % (name, json.dumps(table["title"])))
            checks.same(shown, table["table"]["rows"], f"{name}: table '{table['title']}'")
    checks.same(browser.evaluate(LIVE_FIGURES), figures, "interactive figures of all experiments")
    checks.same(browser.evaluate("new Set([...document.querySelectorAll('[id]')].map(e => e.id)).size"),
                browser.evaluate("document.querySelectorAll('[id]').length"), "ids are given once")
    checks.same(browser.evaluate("[...document.querySelectorAll('a[href^=\"#\"]')].filter(a => !document.querySelector(a.hash)).length"), 0,
                "links to sections that are not there")
    for link in browser.evaluate("[...document.querySelectorAll('main a')].map(a => a.getAttribute('href')).filter(h => !h.startsWith('#'))"):
        checks.expect((folder / link).exists(), f"{link} is there")
    check_silence(browser, checks, page, "after use")
    check_other_views(browser, checks, page, panels)


def check_comparison(browser, checks, folder):
    """Every pair of variants is interactive."""
    page = folder / "report.html"
    pairs = json.loads((folder / "comparison.json").read_text())["pairs"]
    open_page(browser, checks, page, 1_500_000)
    checks.same(verdict(browser), "partly", f"{page}: its text; claims are recomputed in other pages")
    check_accessibility(browser, checks, page)
    checks.expect(len(pairs) > 1, "there are several pairs")
    checks.same(browser.evaluate(LIVE_FIGURES), 2 * len(pairs), "interactive figures of all pairs")
    for number, pair in enumerate(pairs, 1):
        for chart in ("success", "quantiles"):
            names = browser.evaluate(f"[...document.querySelectorAll('figure[data-chart=\"{chart}_{number}\"] .readout tbody th')].map(t => t.textContent)")
            checks.same(names, [pair["a"], pair["b"]], f"{chart} of pair {number}")
    check_other_views(browser, checks, page, 4 * len(pairs))


def check_charts(browser, checks, certificate, prefix="", stride=1, use=True):
    """Values that can be read equal the certificate's; every `stride`-th is read. With `use`, controls are tried."""
    variants = [v["name"] for v in certificate["variants"]]
    charts = charts_of(certificate)
    for kind, name in (("success", "Tolerance"), ("quantiles", "Quantile")):
        if kind not in charts:
            continue
        chart = prefix + kind
        parameters = certificate["declared"]["tolerances" if kind == "success" else "quantiles"]
        wanted = expected_readings(certificate, kind)
        got = browser.evaluate(READ_ALL % (chart, name, stride))
        checks.same(len(got), len(variants) * len(parameters), f"{chart}: curves to choose")
        for curve in got:
            claims = wanted[curve["variant"], parameters[curve["parameter"]]]
            positive = {str(step): text for step, text in claims.items()}
            for step, text in curve["readings"].items():
                place = f"{chart}, {variants[curve['variant']]}, {parameters[curve['parameter']]}, step {step}"
                if kind == "success" and text[0] != positive[step][0]:  # a larger share that another claim implies
                    checks.expect(share_of(text[0]) > share_of(positive[step][0]), f"{place}: {text[0]} is less than {positive[step][0]}")
                    text = [positive[step][0], text[1]]
                checks.same(text, positive[step], place)
            checks.expect(stride > 1 or len(curve["readings"]) >= len([s for s in claims if s > 0]) or len(claims) > 300,
                          f"{chart}: {len(curve['readings'])} of {len(claims)} steps can be read")
        if not use:
            continue
        browser.settle()
        checks.expect(browser.evaluate("document.querySelector('figure[data-chart=\"%s\"] .readout tbody').children.length" % chart)
                      == len(parameters), f"{chart}: a row for each {name}")
        seen = {browser.evaluate(CANVASES % chart)}
        figure = f"document.querySelector('figure[data-chart=\"{chart}\"]')"

        def act(script):
            browser.evaluate(f"(() => {{ const figure = {figure}; {script} }})()")
            browser.settle()
            picture = browser.evaluate(CANVASES % chart)
            checks.expect(picture not in seen, f"{chart}: '{script[:60]}' changes nothing")
            seen.add(picture)

        act("const s = [...figure.querySelectorAll('select')].at(-1); s.value = '0'; s.dispatchEvent(new Event('change'))")
        act("figure.querySelectorAll('input[type=checkbox]')[0].click()")
        act("figure.querySelectorAll('input[type=checkbox]')[1].click()")
        act("figure.querySelectorAll('input[type=checkbox]')[0].click()")  # where nothing is certified there is nothing to zoom
        act("figure.querySelector('.zoom button').click()")
        middle = parameters[len(parameters) // 2]  # what is shown first for all variants
        bounds = [claim.get("lower_bound") or claim.get("upper_bound")
                  for claim in certificate["claims"]["success_rate" if kind == "success" else "quantile"]
                  if middle in (claim.get("tolerance"), claim.get("quantile"))]
        if len(variants) > 1 and any(bounds):
            act("const s = figure.querySelector('select'); s.value = 'all'; s.dispatchEvent(new Event('change'))")
            checks.same(browser.evaluate(f"[...{figure}.querySelectorAll('.readout tbody th')].map(t => t.textContent)"),
                        variants, f"{chart}: all variants side by side")
        # By keyboard: the slider moves the reading.
        browser.evaluate(f"{figure}.querySelector('input[type=range]').focus()")
        reading = f"{figure}.querySelector('.readout').textContent"
        text = browser.evaluate(reading)
        browser.key("ArrowLeft", 37)
        checks.expect(browser.evaluate(reading) != text, f"{chart}: the arrow key moves the reading")
        # By pointer, left and right: one of them is not where the reading was.
        text, pointed = browser.evaluate(reading), set()
        for share in (0.3, 0.97):
            box = browser.evaluate(f"(() => {{ {figure}.scrollIntoView(); const b = {figure}.querySelector('.canvas').getBoundingClientRect();"
                                   f" return [b.x + {share} * b.width, b.y + b.height / 2]; }})()")
            browser.call("Input.dispatchMouseEvent", type="mouseMoved", x=box[0], y=box[1])
            browser.call("Input.dispatchMouseEvent", type="mouseMoved", x=box[0] + 2, y=box[1])
            pointed.add(browser.evaluate(reading))
        checks.expect(pointed - {text}, f"{chart}: pointing moves the reading")


def check_other_views(browser, checks, page, panels):
    """In print, in dark, on narrow screens and without scripts; `panels` static figures at least."""
    drawn = browser.evaluate("document.querySelectorAll('.panel svg').length")
    checks.expect(drawn >= panels, f"{page}: {drawn} panels, at least {panels} are expected")
    browser.media("print")
    browser.settle()
    checks.same(browser.evaluate(VISIBLE_PANELS), drawn, "figures in print")
    checks.same(browser.evaluate("[...document.querySelectorAll('.interactive, .question')].filter(p => p.offsetParent).length"), 0,
                "controls in print")
    checks.expect(browser.print_pdf().startswith(b"%PDF"), "prints")
    for scheme in ("light", "dark"):
        browser.media("screen", scheme)
        for width in (400, 900, 1400):
            browser.resize(width)
            browser.settle()
            checks.expect(browser.evaluate("document.documentElement.scrollWidth <= innerWidth"), f"{width} pixels: no sideways scrolling")
    checks.same(browser.problems, [], "console in dark")
    browser.media()
    browser.open(page, scripts=False)
    checks.same(browser.evaluate(VISIBLE_PANELS), drawn, "figures without scripts")
    checks.same(browser.evaluate("document.querySelectorAll('.interactive').length"), 0, "controls without scripts")


def check_question(browser, checks, certificate, ask="ask"):
    answers = browser.evaluate("""(() => {
      const selects = [...document.querySelectorAll('#ASK select')];
      const all = [];
      const go = (place, chosen) => {
        if (place === selects.length) { all.push([chosen, document.querySelector('#ASK .answer').textContent]); return; }
        for (const option of selects[place].options) {
          selects[place].value = option.value; selects[place].dispatchEvent(new Event("change"));
          go(place + 1, [...chosen, option.value]);
        }
      };
      if (selects.length) go(0, []);
      return all;
    })()""".replace("#ASK", f"#{ask}"))
    claims = certificate["claims"]["iteration_budget"]
    checks.same(len(answers), len(claims), "sentences to choose")
    steps = sorted(f"after {c['steps']:,} iteration{'' if c['steps'] == 1 else 's'}" if c["steps"] else "No guarantee" for c in claims)
    for text in steps:
        checks.expect(any(text in answer or (text == "after 0 iterations" and "at the start" in answer) for _, answer in answers),
                      f"a sentence says '{text}'")
    for chosen, answer in answers:
        checks.expect(all(is_spoken_of(part, answer) for part in chosen), f"'{answer}' speaks of {chosen}")


def take_screenshots(browser, page, folder, name):
    for scheme in ("light", "dark"):
        for width in (390, 800, 1400):
            browser.resize(width)
            browser.media("screen", scheme)
            browser.open(page)
            if browser.evaluate("document.querySelector('#self-check') !== null"):
                verdict(browser)
            browser.screenshot(folder / f"{name}-{width}-{scheme}.png")
    browser.media("")
    (folder / f"{name}-print.pdf").write_bytes(browser.print_pdf())


def look_at_page(browser, folder, page, name):
    if not folder:
        return
    folder.mkdir(parents=True, exist_ok=True)
    take_screenshots(browser, page, folder, name)


def look_at(browser, folder, report, name):
    look_at_page(browser, folder, report / "report.html", name)


def main():
    arguments = argparse.ArgumentParser()
    arguments.add_argument("--program", type=pathlib.Path, required=True)
    arguments.add_argument("--examples", type=pathlib.Path, required=True)
    arguments.add_argument("--certify-page", type=pathlib.Path, required=True)
    arguments.add_argument("--whole", type=pathlib.Path, help="folder of surefoot reproduce all")
    arguments.add_argument("--screenshots", type=pathlib.Path)
    arguments = arguments.parse_args()
    program = chromium.find()
    if program is None:
        print("SKIPPED: no Chromium is installed (Debian: chromium), so reports are NOT tested in a browser", file=sys.stderr)
        return SKIPPED
    traces = arguments.examples / "traces"
    cold, warm = traces / "osqp_mpc_cold.csv.gz", traces / "osqp_mpc_warm.csv.gz"
    examples = {
        "two": [cold, warm, "--names", "cold,warm", "--metric", "residual", "--title", "OSQP in model predictive control"],
        "one": [warm, "--steps", "1,2,5,10,20,50,100", "--tolerances", "1e-4,1e-2", "--simultaneous", "each", "--budget-method", "paper"],
        "no-budgets": [cold, "--claims", "success", "--title", "</script><script>alert(1)</script>"],
    }
    checks = Checks()
    with tempfile.TemporaryDirectory() as scratch, chromium.Browser(program) as browser:
        for name, options in examples.items():
            folder = pathlib.Path(scratch) / name
            subprocess.run([arguments.program, "certify", *options, "--out", folder], check=True, stdout=subprocess.DEVNULL)
            if "figure data-chart" not in (folder / "report.html").read_text():
                print("SKIPPED: surefoot was built without the charting library (Debian: libjs-dygraphs)", file=sys.stderr)
                return SKIPPED
            check_page(browser, checks, folder, arguments.program)
            look_at(browser, arguments.screenshots, folder, name)
        check_tampering(browser, checks, pathlib.Path(scratch) / "two", pathlib.Path(scratch))
        check_certify_page(browser, checks, arguments.certify_page, arguments.program, traces, pathlib.Path(scratch))
        look_at_page(browser, arguments.screenshots, arguments.certify_page, "certify")
        kinds = {"every": ["--anytime"], "means": ["--range", "0,1e6"], "grid": ["--quantile-method", "grid", "--risk-method", "kl", "--budget-method", "every-step"],
                 "log": ["--sequence"]}
        for name, options in kinds.items():
            subprocess.run([arguments.program, "certify", cold, *options, "--out", pathlib.Path(scratch) / name], check=True, stdout=subprocess.DEVNULL)
        check_old_certificates(browser, checks, arguments.certify_page, scratch, [pathlib.Path(scratch) / name / "certificate.json" for name in kinds]
                               + sorted((arguments.examples.parent / "tests" / "certificates" / "v1").glob("*.json")))
        check_kinds_of_work(browser, checks, arguments.certify_page, arguments.program, arguments.examples.absolute(), pathlib.Path(scratch))
        check_same_names(browser, checks, arguments.certify_page, pathlib.Path(scratch) / "two" / "certificate.json")
        folder = pathlib.Path(scratch) / "compared"
        certificate = pathlib.Path(scratch) / "two" / "certificate.json"
        subprocess.run([arguments.program, "compare", certificate, certificate, "--variants", "cold,warm", "--variants", "warm,cold",
                        "--out", folder], check=True, stdout=subprocess.DEVNULL)
        check_comparison(browser, checks, folder)
        look_at(browser, arguments.screenshots, folder, "compared")
        if arguments.whole:
            check_page(browser, checks, arguments.whole / "robust-kalman", arguments.program)
            check_page(browser, checks, arguments.whole / "sparse-coding" / "alista" / "pac-bayes", arguments.program)  # as calibrate writes it
            check_whole(browser, checks, arguments.whole)
            look_at(browser, arguments.screenshots, arguments.whole, "whole")
    print(f"{checks.done - checks.failed} of {checks.done} checks hold")
    return 1 if checks.failed or checks.done < 100 else 0


if __name__ == "__main__":
    sys.exit(main())
