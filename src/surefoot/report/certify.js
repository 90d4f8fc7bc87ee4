// certify.html: a table of traces becomes counts and claims in the browser, as by `surefoot certify --choose before`;
// a certificate is checked. Nothing is sent anywhere.
"use strict";
const surefootCertify = (() => {
  class InputError extends Error {}
  const need = (holds, text) => { if (!holds) throw new InputError(text); };

  // ---- Reading a table: the rules of docs/reference_files.md

  const plainNumber = /^[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?$/;
  function number(cell, row, column) {
    const text = cell.trim().toLowerCase();
    if (plainNumber.test(text)) return Number(text);
    if (/^[+-]?(inf|infinity)$/.test(text)) return text.startsWith("-") ? -Infinity : Infinity;
    if (/^[+-]?nan$/.test(text)) return NaN;
    throw new InputError(`row ${row}, column ${column}: '${cell.trim().slice(0, 40)}' is not a number`);
  }

  // [word, iteration] of a label: ["k", 5] of "k=5", ["k", 1000] of "k=1e3", ["", 5] of "5".
  const stepLabel = /^(?:(k|it|iter|iteration|step|epoch|i|n|t)\s*[=_ ]?\s*)?(\d+(?:\.\d+)?(?:e\+?\d+)?)$/i;
  function stepOfLabel(label, column) {
    const found = label.replace(/"/g, "").trim().match(stepLabel);
    need(found && Number.isInteger(Number(found[2])), `header: '${label.trim().slice(0, 40)}' of column ${column} names no iteration`);
    return [(found[1] ?? "").toLowerCase(), Number(found[2])];
  }

  function readTable(text) {
    const lines = text.replace(/^\ufeff/, "").split(/\r?\n/).filter((line) => line.trim() !== "");
    need(lines.length > 0, "the table is empty");
    const cells = lines.map((line) => line.split(","));
    const isNumber = (cell) => plainNumber.test(cell.trim()) || /^[+-]?(inf|infinity|nan)$/i.test(cell.trim());
    let steps = null, skip = 0;
    if (!cells[0].every(isNumber)) {
      const labels = cells.shift();
      if (!/\d/.test(labels[0]) && labels.length > 1) skip = 1;  // it numbers the problems
      const named = labels.slice(skip).map((label, i) => stepOfLabel(label, i + 1 + skip));
      need(named.every(([word]) => word === named[0][0]), "header: its labels do not all name the same thing");
      steps = named.map(([, step]) => step);
    } else if (cells[0].length >= 3 && cells.length > 1) {
      const first = cells[0].map(Number), apart = first[1] - first[0];
      const even = first.every((value, i) => Number.isInteger(value) && value >= 0 && (i === 0 || value - first[i - 1] === apart));
      if (even && apart > 0) { steps = first; cells.shift(); }
    }
    need(cells.length > 0, "the table has a header and no rows");
    const width = cells[0].length;
    const rows = cells.map((row, i) => {
      need(row.length === width, `row ${i + 1} has ${row.length} cells, the first has ${width}`);
      return row.slice(skip).map((cell, j) => number(cell, i + 1, j + 1 + skip));
    });
    if (steps === null) steps = rows[0].map((_, i) => i + 1);
    need(steps.length === rows[0].length, `the header has ${steps.length} labels, rows have ${rows[0].length} values`);
    need(steps.every((step, i) => i === 0 || step > steps[i - 1]), "the iterations of the header do not increase");
    return { steps, rows };
  }

  // ---- Counting

  function count(table, tolerances) {
    const { steps, rows } = table, columns = steps.length;
    const zeros = () => tolerances.map(() => new Array(columns).fill(0));
    const failures = zeros(), settled = zeros(), values = steps.map(() => []);
    let nonFinite = 0;
    for (const row of rows) {
      let broken = columns;  // failed from there on
      row.forEach((value, c) => { if (!Number.isFinite(value)) broken = Math.min(broken, c); });
      if (broken < columns) nonFinite += 1;
      row.forEach((value, c) => values[c].push(c < broken ? value : Infinity));
      tolerances.forEach((tolerance, t) => {
        let from = columns;
        for (let c = columns; c-- > 0;) {
          const good = c < broken && row[c] < tolerance;
          if (!good) failures[t][c] += 1;
          if (good && from === c + 1) from = c;
        }
        for (let c = from; c < columns; ++c) settled[t][c] += 1;
      });
    }
    for (const column of values) column.sort((a, b) => a - b);
    return { failures, settled, values, nonFinite };
  }

  // ---- Claims

  function defaultSteps(recorded) {
    const most = 60;
    if (recorded.length <= most) return recorded;
    const chosen = [], span = Math.log(recorded.length);
    for (let i = 0; i < most; ++i) {
      const step = recorded[Math.min(Math.round(Math.exp((span * i) / (most - 1))) - 1, recorded.length - 1)];
      if (chosen.length === 0 || chosen[chosen.length - 1] < step) chosen.push(step);
    }
    return chosen;
  }

  function shareOut(delta, steps, tolerances, quantiles) {
    const part = delta / 3;
    return { success: part / (steps.length * tolerances.length), quantile: part / (steps.length * quantiles.length), budget: part / (tolerances.length * quantiles.length) };
  }

  function increasing(list, what, inside) {
    need(list.length > 0, `${what}: there is none`);
    for (const [i, value] of list.entries()) {
      need(Number.isFinite(value) && inside(value), `${what}: ${value} cannot be one`);
      need(i === 0 || value > list[i - 1], `${what}: ${value} does not come after ${list[i - 1]}; the list must increase`);
    }
    return list;
  }

  // { samples, steps, shares, success, quantile, budget } of a table's text
  function certify(text, { tolerances, quantiles, steps, confidence }) {
    const table = readTable(text), n = table.rows.length;
    need(confidence > 0 && confidence < 1, `confidence: ${confidence} is outside (0, 1)`);
    const delta = Number((1 - confidence).toPrecision(15));
    increasing(tolerances, "tolerances", () => true);
    const claimed = steps ? increasing(steps, "iterations", (step) => table.steps.includes(step)) : defaultSteps(table.steps);
    const given = quantiles !== null;
    let shares = given ? increasing(quantiles, "shares", (share) => share > 0 && share < 1) : [0.5, 0.9, 0.99];
    let each = shareOut(delta, claimed, tolerances, shares);
    const rank = (share, of) => surefootChecker.rankOf(n, share, of, "exact");
    while (!given && shares.length > 1 && rank(shares[shares.length - 1], each.quantile) === 0 && rank(shares[shares.length - 1], each.budget) === 0) {
      shares = shares.slice(0, -1);
      each = shareOut(delta, claimed, tolerances, shares);
    }
    const counts = count(table, tolerances);
    const columns = claimed.map((step) => table.steps.indexOf(step));
    const success = tolerances.flatMap((tolerance, t) => columns.map((c) => ({ step: table.steps[c], tolerance, failures: counts.failures[t][c],
      empirical: (n - counts.failures[t][c]) / n, lower_bound: surefootChecker.successLower(counts.failures[t][c], n, each.success, "exact") })));
    const quantile = shares.flatMap((share) => columns.map((c) => {
      const place = rank(share, each.quantile), value = place > 0 ? counts.values[c][place - 1] : Infinity;
      return { step: table.steps[c], quantile: share, rank: place, empirical: counts.values[c][surefootChecker.observedRank(n, share) - 1], upper_bound: value };
    }));
    const budget = tolerances.flatMap((tolerance, t) => shares.map((share) => {
      const place = rank(share, each.budget), reached = counts.settled[t];
      const column = place > 0 ? reached.findIndex((runs) => runs >= place) : -1;
      const seen = reached.findIndex((runs) => runs >= surefootChecker.observedRank(n, share));
      return { tolerance, quantile: share, rank: place, steps: column < 0 ? null : table.steps[column], empirical: seen < 0 ? null : table.steps[seen] };
    }));
    return { samples: n, recorded: table.steps, nonFinite: counts.nonFinite, confidence, delta, tolerances, steps: claimed, shares, each, success, quantile, budget };
  }

  return { certify, readTable, InputError };
})();

(() => {
  const place = (id) => document.getElementById(id);
  if (!place("drop")) return;

  function element(tag, attributes, ...children) {
    const made = document.createElement(tag);
    for (const [name, value] of Object.entries(attributes ?? {})) made.setAttribute(name, value);
    made.append(...children);
    return made;
  }

  // Shares are rounded down, values up: never a stronger claim than the one that was computed.
  function percentDown(share) {
    if (!(share > 0)) return "-";
    const decimals = share < 0.999 ? 1 : share < 0.9999 ? 2 : 3;
    let tenths = Math.round(share * 100 * 10 ** decimals);
    if (tenths / 10 ** (decimals + 2) > share) tenths -= 1;
    return `${(tenths / 10 ** decimals).toFixed(decimals)} %`;
  }
  function valueUp(value) {
    if (value === Infinity) return "-";
    if (value === 0) return "0";
    let text = value.toPrecision(3);
    if (Number(text) < value) {
      const unit = 10 ** (Math.floor(Math.log10(Math.abs(Number(text)))) - 2);
      text = (Number(text) + unit).toPrecision(3);
    }
    return String(Number(text));
  }
  const counted = (number, thing) => `${number.toLocaleString("en")} ${thing}${number === 1 ? "" : "s"}`;
  const label = (tolerance) => (tolerance !== 0 && Math.abs(tolerance) < 1e-1 ? tolerance.toExponential() : String(tolerance));
  const percent = (share) => `${Number((100 * share).toPrecision(12))} %`;

  function table(label, head, rows) {
    return element("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": label }, element("table", {},
      element("thead", {}, element("tr", {}, ...head.map((text) => element("th", { scope: "col" }, text)))),
      element("tbody", {}, ...rows.map((row) => element("tr", {}, element("th", { scope: "row" }, row[0]), ...row.slice(1).map((text) => element("td", {}, text)))))));
  }

  const settings = () => {
    const list = (id) => {
      const text = place(id).value.trim();
      return text === "" ? null : text.split(",").map((each) => (each.trim() === "" ? NaN : Number(each)));
    };
    return { tolerances: list("tolerances") ?? [], quantiles: list("quantiles"), steps: list("steps"), confidence: Number(place("confidence").value) };
  };

  function csvOf(result) {
    const lines = ["claim,iteration,tolerance,share,count,observed,certified"];
    for (const c of result.success) lines.push(["success", c.step, c.tolerance, "", c.failures, c.empirical, c.lower_bound].join(","));
    for (const c of result.quantile) lines.push(["quantile", c.step, "", c.quantile, c.rank, c.empirical, c.upper_bound].join(","));
    for (const c of result.budget) lines.push(["budget", "", c.tolerance, c.quantile, c.rank, c.empirical ?? "", c.steps ?? ""].join(","));
    return `${lines.join("\n")}\n`;
  }

  function show(name, result) {
    const metric = place("metric").value.trim() || "metric", last = result.steps[result.steps.length - 1], horizon = result.recorded[result.recorded.length - 1];
    const given = settings();
    const command = ["surefoot certify", /^[\w./+-]+$/.test(name) ? name : `'${name.replace(/'/g, "'\\''")}'`, "--metric", `'${metric.replace(/'/g, "'\\''")}'`, "--tolerances", result.tolerances.join(","),
      ...(given.quantiles ? ["--quantiles", result.shares.join(",")] : []), ...(given.steps ? ["--steps", result.steps.join(",")] : []), "--confidence", result.confidence].join(" ");
    const save = element("a", { download: "claims.csv", href: `data:text/csv;charset=utf-8,${encodeURIComponent(csvOf(result))}` }, "Save all claims (CSV)");
    const cell = (tolerance, share) => result.budget.find((c) => c.tolerance === tolerance && c.quantile === share);
    place("result").replaceChildren(
      element("h2", {}, `${name}: ${counted(result.samples, "problem")}, iterations ${result.recorded[0]} to ${horizon}`),
      element("div", { class: "quote" }, element("p", {}, `With confidence ${result.confidence}, all of these hold together for the ${metric} of new problems, if the rows are independent problems from one distribution:`),
        table("Iterations needed", ["below", ...result.shares.map((share) => `${percent(share)} of problems`)],
          result.tolerances.map((tolerance) => [label(tolerance), ...result.shares.map((share) => cell(tolerance, share).steps?.toLocaleString("en") ?? "-")])),
        element("p", { class: "note" }, `Iterations until the share of problems is below the tolerance and stays below it (up to iteration ${horizon}). "-": not certifiable with these samples.`)),
      element("h2", {}, "Success rates"), table("Success rates", ["iteration", ...result.tolerances.map((t) => `below ${label(t)}`)],
        result.steps.map((step) => [String(step), ...result.tolerances.map((t) => percentDown(result.success.find((c) => c.step === step && c.tolerance === t).lower_bound))])),
      element("h2", {}, "Quantiles"), table("Quantiles", ["iteration", ...result.shares.map((s) => `${percent(s)} of problems`)],
        result.steps.map((step) => [String(step), ...result.shares.map((s) => valueUp(result.quantile.find((c) => c.step === step && c.quantile === s).upper_bound))])),
      element("h2", {}, "Counts"), table("Runs that failed", ["iteration", ...result.tolerances.map((t) => `not below ${label(t)}`)],
        result.steps.map((step) => [String(step), ...result.tolerances.map((t) => result.success.find((c) => c.step === step && c.tolerance === t).failures.toLocaleString("en"))])),
      element("p", { class: "note" }, result.nonFinite === 0 ? "No run has an infinity or NaN." : `${counted(result.nonFinite, "run")} with an infinity or NaN, counted as failed from there on.`),
      element("p", {}, save, ` Certified after ${last} iterations at the latest. A certificate that others can verify, with the check of the rows for dependence and bands for claims chosen after looking:`),
      element("pre", {}, command));
    place("result").dataset.claims = String(result.success.length + result.quantile.length + result.budget.length);
  }

  function showCheck(name, check) {
    const verdicts = { holds: `all ${counted(check.claims, "claim")} hold as recomputed from their counts, and the digest fits the text.`,
      partly: `${counted(check.checked, "claim")} of ${check.claims.toLocaleString("en")} were recomputed and hold; the others were not recomputed.`,
      wrong: "this certificate does not hold." };
    place("result").replaceChildren(element("h2", {}, name), element("p", { role: check.verdict === "wrong" ? "alert" : "status" }, `${name}: ${verdicts[check.verdict]}`),
      element("ul", {}, ...check.findings.slice(0, 50).map((text) => element("li", {}, text))), table("Claims recomputed", ["claims", "made", "recomputed", "hold"],
        check.kinds.map((kind) => [kind.name, ...[kind.claims, kind.checked, kind.checked - kind.failed].map(String)])),
      element("p", {}, "Not recomputed here:"), element("ul", {}, ...check.leftOut.map((text) => element("li", {}, text))));
    place("result").dataset.verdict = check.verdict;
  }

  let current = null;
  async function read() {
    if (!current) return;
    const { name, text } = current;
    delete place("result").dataset.verdict;
    delete place("result").dataset.claims;
    try {
      if (text.trimStart().startsWith("{")) {
        let last = performance.now();
        showCheck(name, await surefootChecker.check(text, async () => {
          if (performance.now() - last < 40) return;
          await new Promise((go) => setTimeout(go, 0));
          last = performance.now();
        }));
      } else show(name, surefootCertify.certify(text, settings()));
    } catch (error) {
      if (!(error instanceof surefootCertify.InputError)) throw error;
      place("result").replaceChildren(element("p", { class: "missing", role: "alert" }, `${name}: ${error.message}`));
      place("result").dataset.verdict = "refused";
    }
  }

  async function take(file) {
    if (!file) return;
    const bytes = new Uint8Array(await file.arrayBuffer());
    const packed = bytes.length > 1 && bytes[0] === 0x1f && bytes[1] === 0x8b;
    const source = packed ? new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip")) : new Blob([bytes]).stream();
    try {
      current = { name: file.name, text: await new Response(source).text() };
    } catch (error) {
      current = null;
      place("result").replaceChildren(element("p", { class: "missing", role: "alert" }, `${file.name}: the gzip data is damaged`));
      place("result").dataset.verdict = "refused";
      return;
    }
    await read();
  }

  const drop = place("drop");
  place("file").addEventListener("change", () => take(place("file").files[0]));
  place("declared").addEventListener("change", read);
  place("declared").addEventListener("submit", (event) => event.preventDefault());
  for (const kind of ["dragenter", "dragover"]) drop.addEventListener(kind, (event) => { event.preventDefault(); drop.classList.add("over"); });
  for (const kind of ["dragleave", "drop"]) drop.addEventListener(kind, () => drop.classList.remove("over"));
  drop.addEventListener("drop", (event) => { event.preventDefault(); take(event.dataTransfer.files[0]); });
})();
