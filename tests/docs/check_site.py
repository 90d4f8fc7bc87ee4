"""Opens the documentation site from its folder in a browser: search finds, nothing is fetched from elsewhere, formulas are drawn, wide tables scroll
by themselves, and the page that certifies is there.

  check_site.py SITE
"""

import pathlib
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "browser"))
import chromium  # noqa: E402

SKIPPED = 77
TYPE = """(() => {
  const field = document.querySelector(".md-search__input");
  field.focus();
  field.value = "clopper";
  for (const kind of ["keyup", "input"]) field.dispatchEvent(new Event(kind, { bubbles: true }));
})()"""
FOUND = "[...document.querySelectorAll('.md-search-result__item')].map(e => e.textContent).join(' ')"


def main():
    site = pathlib.Path(sys.argv[1]).absolute()
    program = chromium.find()
    if program is None or not (site / "index.html").exists():
        print("SKIPPED: no Chromium, or the site was not built: it is NOT tested in a browser", file=sys.stderr)
        return SKIPPED
    failed = []
    with chromium.Browser(program) as browser:
        browser.resize(1300)
        for page in ("index.html", "results/index.html"):
            browser.open(site / page)
            browser.evaluate(TYPE)
            for _ in range(100):
                if "clopper" in browser.evaluate(FOUND).lower():
                    break
                time.sleep(0.1)
            else:
                failed.append(f"{page}: search finds nothing")
        for page in ("index.html", "gallery.html", "guarantees.html", "worst_case.html", "howto_other_distribution.html", "library.html", "reference_python.html", "reference_verbs.html", "performance.html",
                     "certify.html"):
            for width in (400, 1300):
                browser.resize(width)
                browser.open(site / page)
                outside = [address for address in browser.requests if not address.startswith(("file:", "data:", "blob:"))]
                if browser.problems or outside:
                    failed.append(f"{page}: {browser.problems} {outside}")
                if not browser.evaluate("document.documentElement.scrollWidth <= innerWidth"):
                    failed.append(f"{page}: scrolls sideways at {width} pixels")
                broken = browser.evaluate("[...document.images].filter(image => !image.complete || image.naturalWidth === 0).map(image => image.src)")
                if broken:
                    failed.append(f"{page}: pictures are missing: {broken}")
            text = browser.evaluate("document.querySelector('main').textContent")
            if page in ("guarantees.html", "worst_case.html", "howto_other_distribution.html") and (browser.evaluate("document.querySelectorAll('math').length") < 5 or "$" in text):
                failed.append(f"{page}: formulas are not typeset")
            if page in ("reference_python.html", "library.html") and browser.evaluate("document.querySelectorAll('.highlight span[class]').length") < 5:
                failed.append(f"{page}: code is not highlighted")
    print("\n".join(failed) or "the site works from its folder")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
