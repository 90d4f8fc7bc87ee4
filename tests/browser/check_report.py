"""Opens reports in a browser (of certificates, of comparisons, of a whole reproduction): nothing is fetched, nothing goes wrong, controls change the figures, and
every number shown is that of certificate.json, rounded to the safe side.

  check_report.py --program build/surefoot --examples examples [--whole FOLDER] [--screenshots FOLDER]
"""

import argparse
import decimal
import json
import math
import pathlib
import subprocess
import sys
import tempfile

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

CANVASES = """[...document.querySelectorAll('figure[data-chart="%s"] canvas')].map(c => c.toDataURL()).join()"""


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


def check_page(browser, checks, folder, program):
    """The report of one certificate."""
    page = folder / "report.html"
    certificate = json.loads((folder / "certificate.json").read_text())
    charts = charts_of(certificate)
    open_page(browser, checks, page, 1_500_000)
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
        # By pointer.
        text = browser.evaluate(reading)
        box = browser.evaluate(f"(() => {{ {figure}.scrollIntoView(); const b = {figure}.querySelector('.canvas').getBoundingClientRect();"
                               " return [b.x + b.width / 3, b.y + b.height / 2]; })()")
        browser.call("Input.dispatchMouseEvent", type="mouseMoved", x=box[0], y=box[1])
        browser.call("Input.dispatchMouseEvent", type="mouseMoved", x=box[0] + 2, y=box[1])
        checks.expect(browser.evaluate(reading) != text, f"{chart}: pointing moves the reading")


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
            browser.screenshot(folder / f"{name}-{width}-{scheme}.png")
    browser.media("")
    (folder / f"{name}-print.pdf").write_bytes(browser.print_pdf())


def look_at(browser, folder, report, name):
    if not folder:
        return
    folder.mkdir(parents=True, exist_ok=True)
    take_screenshots(browser, report / "report.html", folder, name)


def main():
    arguments = argparse.ArgumentParser()
    arguments.add_argument("--program", type=pathlib.Path, required=True)
    arguments.add_argument("--examples", type=pathlib.Path, required=True)
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
