// The page checks itself: the claims of the certificate inside follow from their counts, its digest is that of its
// text, and the text that people read is the one that was written. It runs when the page is opened, and by a button.
"use strict";
(() => {
  const place = document.getElementById("self-check"), main = document.querySelector("main[data-text-sha256]");
  if (!place || !main) return;

  // What is read now, before other scripts add to the page.
  const lettersOf = (text) => text.replace(/[ \t\n\r\f\v\u00a0]+/g, "");
  function shownText() {
    const copy = main.cloneNode(true);
    for (const picture of copy.querySelectorAll("svg")) picture.remove();
    const header = ["h1", ".subtitle"].map((name) => document.querySelector(`header ${name}`).textContent).join("");
    return lettersOf(header + copy.textContent) + (document.getElementById("chart-data")?.textContent ?? "");
  }
  const shown = shownText();
  const inside = document.getElementById("certificate");

  function element(tag, attributes, ...children) {
    const made = document.createElement(tag);
    for (const [name, value] of Object.entries(attributes ?? {})) made.setAttribute(name, value);
    made.append(...children);
    return made;
  }

  async function unpacked(base64) {
    const bytes = Uint8Array.from(atob(base64), (letter) => letter.charCodeAt(0));
    return new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"))).text();
  }

  const counted = (count, thing) => `${count.toLocaleString("en")} ${thing}${count === 1 ? "" : "s"}`;

  function report(result, sentence, findings, others) {
    const box = element("details", { class: `self-check ${result}` });
    box.append(element("summary", {}, element("span", { role: result === "wrong" ? "alert" : "status" }, sentence)));
    if (findings.length > 0) box.append(element("ul", {}, ...findings.slice(0, 20).map((text) => element("li", {}, text))));
    box.append(...others);
    if (result === "wrong") box.open = true;
    place.dataset.verdict = result;
    const again = element("button", { type: "button" }, "Check again");
    again.addEventListener("click", run);
    place.replaceChildren(box, again);
    return box;
  }

  function tableOf(check) {
    const head = element("tr", {}, ...["claims", "made", "recomputed", "hold"].map((text, i) => element("th", { scope: "col", class: i === 0 ? "left" : "" }, text)));
    const rows = check.kinds.map((kind) => element("tr", {}, element("th", { scope: "row", class: "left" }, kind.name),
      ...[kind.claims, kind.checked, kind.checked - kind.failed].map((count) => element("td", {}, count.toLocaleString("en")))));
    return element("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": "Claims recomputed" },
      element("table", {}, element("thead", {}, head), element("tbody", {}, ...rows)));
  }

  // Waits now and then, so that the page can be read meanwhile.
  function resting() {
    let last = performance.now();
    return async () => {
      if (performance.now() - last < 25) return;
      await new Promise((go) => setTimeout(go, 0));
      last = performance.now();
    };
  }

  const closing = () => [element("p", { class: "note" },
    "This finds a number that was changed by mistake or without care. Whoever forges counts, digests and text together is found by surefoot verify, from the data (--data) or by running again (--rerun).")];

  // Files of a certificate have no date inside, so that the same work makes the same bytes: all that is known is when this file was
  // last changed, which of a copy is when it was copied. A server may not say it, and then browsers say now.
  function withDate() {
    if (location.protocol !== "file:") return;
    const written = new Date(document.lastModified);
    const subtitle = document.querySelector("header .subtitle");
    if (Number.isNaN(written.getTime()) || document.getElementById("written")) return;
    subtitle.append(element("span", { id: "written" }, ` · file last changed ${written.toLocaleDateString("en-GB", { day: "numeric", month: "long", year: "numeric" })}`));
  }

  async function run() {
    const textHolds = surefootChecker.sha256OfText(shown) === main.dataset.textSha256;
    const findings = textHolds ? [] : ["the text of this page has been changed since it was written"];
    if (!inside || inside.hasAttribute("data-left-out")) {
      const what = inside ? "The certificate is too large to be inside this page: its claims were not recomputed. Drop certificate.json on certify.html, or say surefoot verify."
        : "Claims are recomputed in the page of each certificate.";
      report(textHolds ? "partly" : "wrong", textHolds ? `The text of this page is as it was written. ${what}` : "The text of this page has been changed since it was written.", findings, closing());
      return;
    }
    place.dataset.verdict = "running";
    let check;
    try {
      const text = await unpacked(inside.textContent);
      check = await surefootChecker.check(text, resting());
      const named = document.getElementById("certificate-sha256");
      if (named && named.textContent !== surefootChecker.sha256OfText(text)) findings.push("the certificate inside is not the one that this page names");
    } catch (error) {
      report("wrong", "This page could not check itself.", [`the certificate inside could not be read (${error.message})`, ...findings], closing());
      return;
    }
    findings.unshift(...check.findings);
    const left = check.claims - check.checked, verdict = findings.length > 0 ? "wrong" : check.verdict;
    const sentence = verdict === "wrong" ? `This page does not hold: ${findings.length === 1 ? findings[0] : counted(findings.length, "contradiction")}.`
      : verdict === "partly" ? `Recomputed in this page: ${counted(check.checked, "claim")}, which hold; ${left.toLocaleString("en")} of ${check.claims.toLocaleString("en")} were not recomputed.`
        : `Recomputed in this page: ${check.claims === 1 ? "the claim holds" : `all ${counted(check.claims, "claim")} hold`}, and certificate and text are as they were written.`;
    const box = report(verdict, sentence, findings, [tableOf(check), element("p", {}, "Not recomputed here:"),
      element("ul", {}, ...check.leftOut.map((text) => element("li", {}, text))), ...closing()]);
    box.dataset.checked = String(check.checked);
    box.dataset.claims = String(check.claims);
  }

  const start = () => { withDate(); run(); };
  if (document.readyState === "complete") start();
  else window.addEventListener("load", () => setTimeout(start, 0));
})();
