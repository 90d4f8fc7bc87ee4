#include "surefoot/report/html_template.hpp"

namespace surefoot::report {

const std::string_view html_template = R"html(<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="generator" content="surefoot {{version}}">
<title>{{title}}</title>
<style>
:root {
  color-scheme: light dark;
  --page: #ffffff; --card: #f6f7f9; --ink: #1b1f24; --quiet: #59636e; --line: #d9dee4; --accent: #0b5d94;
  --quote: #eef5fb;
}
@media (prefers-color-scheme: dark) {
  :root {
    --page: #14171b; --card: #1c2026; --ink: #e6e9ed; --quiet: #9aa5b1; --line: #343b44; --accent: #6db8ec;
    --quote: #172633;
  }
}
* { box-sizing: border-box; }
html { -webkit-text-size-adjust: 100%; }
body {
  margin: 0; background: var(--page); color: var(--ink);
  font: 1rem/1.55 system-ui, -apple-system, "Segoe UI", Roboto, "Liberation Sans", "DejaVu Sans", Arial, sans-serif;
}
main, header, footer { max-width: 74rem; margin: 0 auto; padding: 0 clamp(1rem, 4vw, 2.5rem); }
header { padding-top: 2.2rem; }
h1 { font-size: clamp(1.5rem, 1.1rem + 1.6vw, 2.1rem); line-height: 1.2; margin: 0 0 .35rem; letter-spacing: -.01em; }
h2 { font-size: 1.25rem; margin: 2.8rem 0 .7rem; padding-top: .9rem; border-top: 1px solid var(--line); }
h3 { font-size: 1rem; margin: 1.4rem 0 .5rem; }
p, li { max-width: 46rem; }
p { margin: .5rem 0 .9rem; }
ul { padding-left: 1.2rem; margin: .4rem 0 1rem; }
li { margin: .3rem 0; }
h1, h2, h3, p, li, th, td, summary { overflow-wrap: anywhere; }
.subtitle, figcaption, .note, footer { color: var(--quiet); font-size: .9rem; }
nav { display: flex; flex-wrap: wrap; gap: .1rem 1.1rem; margin: .9rem 0 0; font-size: .9rem; }
a { color: var(--accent); text-underline-offset: .15em; }
.quote {
  background: var(--quote); border-left: 4px solid var(--accent); border-radius: 0 .5rem .5rem 0;
  padding: 1.1rem clamp(1rem, 3vw, 1.6rem) 1.2rem; margin: 1.5rem 0;
}
.quote > p { margin: 0; font-size: 1.1rem; font-weight: 600; max-width: none; }
.quote h3 { margin: 1rem 0 .2rem; color: var(--accent); }
.quote ul { margin: .2rem 0 0; }
.variants { display: grid; gap: 0 2.5rem; grid-template-columns: repeat(auto-fit, minmax(min(100%, 24rem), 1fr)); }
.panels { display: grid; gap: 1rem; grid-template-columns: repeat(auto-fit, minmax(min(100%, 23rem), 1fr)); }
.panels.single { max-width: 40rem; }
figure { margin: 1rem 0 1.8rem; }
figcaption { margin-top: .6rem; max-width: 46rem; }
.panel { border: 1px solid var(--line); border-radius: .5rem; padding: .6rem .6rem .3rem; background: var(--card); }
.panel svg { display: block; width: 100%; height: auto; color: var(--ink); }
.panel svg g, .panel svg tspan { font-family: inherit; }
.scroll { overflow-x: auto; margin: .6rem 0 1rem; }
.scroll:focus-visible { outline: 2px solid var(--accent); outline-offset: 2px; }
table { border-collapse: collapse; font-size: .9rem; font-variant-numeric: tabular-nums; line-height: 1.4; }
th, td { padding: .28rem .8rem; text-align: right; white-space: nowrap; overflow-wrap: normal; }
th { font-weight: 600; }
.left { text-align: left; }
thead th { color: var(--quiet); font-weight: 500; vertical-align: bottom; border-bottom: 1px solid var(--line); }
thead th.group { color: var(--ink); font-weight: 600; text-align: center; border-bottom: 0; }
tbody tr { border-bottom: 1px solid var(--line); }
tbody tr:last-child { border-bottom: 0; }
tbody tr:hover { background: var(--card); }
tbody th { font-weight: 500; }
.pairs td:nth-last-child(odd) { font-weight: 600; }
.pairs thead tr:last-child th:nth-last-child(odd) { color: var(--ink); }
.pairs td.none, td.none { color: var(--quiet); font-weight: 400; }
.total tbody tr:last-child > * { font-weight: 700; border-top: 2px solid var(--line); }
.data td { white-space: normal; }
.hash { font: .8rem/1.5 ui-monospace, "Liberation Mono", "DejaVu Sans Mono", monospace; word-break: break-all; }
dl { display: grid; grid-template-columns: max-content minmax(0, 1fr); gap: .2rem 1.2rem; margin: .5rem 0 1.4rem; font-size: .95rem; }
dt { color: var(--quiet); }
dd { margin: 0; overflow-wrap: anywhere; }
details { border: 1px solid var(--line); border-radius: .5rem; padding: 0 .9rem; margin: .7rem 0; }
summary { cursor: pointer; padding: .55rem 0; font-weight: 500; }
pre {
  background: var(--card); border: 1px solid var(--line); border-radius: .5rem; padding: .8rem 1rem; overflow-x: auto;
  font: .88rem/1.5 ui-monospace, "Liberation Mono", "DejaVu Sans Mono", monospace;
}
.missing { border: 1px dashed var(--line); border-radius: .5rem; padding: .8rem 1rem; color: var(--quiet); max-width: none; }
footer { margin-top: 3rem; padding-top: 1rem; padding-bottom: 2.5rem; border-top: 1px solid var(--line); }
@media (max-width: 34rem) {
  th, td { padding: .28rem .5rem; }
  dl { grid-template-columns: 1fr; gap: 0; }
  dd { margin-bottom: .5rem; }
}
@media print {
  :root {
    --page: #fff; --card: #fff; --ink: #000; --quiet: #444; --line: #bbb; --accent: #0b5d94; --quote: #fff;
    color-scheme: light;
  }
  @page { margin: 16mm; }
  body { font-size: 10pt; }
  nav { display: none; }
  main, header, footer { padding: 0; max-width: none; }
  h2 { break-after: avoid; margin-top: 1.6rem; }
  .panel, tr, .quote li { break-inside: avoid; }
  .panels:not(.single) { grid-template-columns: 1fr 1fr; }
  .scroll { overflow: visible; break-inside: avoid; }
  h3 { break-after: avoid; }
  table { font-size: 8pt; }
  th, td { padding: .15rem .4rem; }
  details:not([open]) { display: none; }
}
</style>
</head>
<body>
<header>
<h1>{{title}}</h1>
<p class="subtitle">{{subtitle}}</p>
<nav aria-label="Sections">
<a href="#summary">Summary</a>
<a href="#figures">Figures</a>
<a href="#iterations">Iterations needed</a>
<a href="#success">Success rates</a>
<a href="#quantiles">Quantiles</a>
<a href="#confidence">Confidence</a>
<a href="#meaning">What it means</a>
<a href="#data">Data</a>
<a href="#check">How to check</a>
</nav>
</header>
<main>
<section id="summary" aria-label="Summary">
{{summary}}
</section>

<section id="figures">
<h2>Figures</h2>
{{figures}}
</section>

<section id="iterations">
<h2>Iterations needed</h2>
{{iterations}}
</section>

<section id="success">
<h2>Success rates</h2>
<p>Share of problems below the tolerance: observed in the samples, and at least this among fresh problems
(certified, rounded down).</p>
{{success}}
</section>

<section id="quantiles">
<h2>Quantiles</h2>
<p>Value of the {{metric}} that the given share of problems does not exceed: observed in the samples, and at most this among
fresh problems (certified, rounded up).</p>
{{quantiles}}
</section>

<section id="confidence">
<h2>Where the confidence goes</h2>
{{confidence}}
</section>

<section id="meaning">
<h2>What this certificate says</h2>
{{says}}
<h3>What it does not say</h3>
{{does_not_say}}
{{assumptions}}
</section>

<section id="data">
<h2>Data</h2>
{{data}}
</section>

<section id="check">
<h2>How to check</h2>
<p>Every claim can be recomputed from the counts in the certificate, and the counts from the data:</p>
<pre>{{check}}</pre>
<p>The numbers behind the figures are in <code>curves.csv</code>, the claims in full precision in
<code>certificate.json</code>.</p>
</section>
</main>
<footer>Surefoot {{version}}. Guarantees for optimizers from samples.</footer>
</body>
</html>
)html";

}  // namespace surefoot::report
