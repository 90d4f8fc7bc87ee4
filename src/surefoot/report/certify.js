// certify.html: a table of traces becomes counts and claims in the browser, as by `surefoot certify --choose before`;
// a certificate is checked. Nothing is sent anywhere.
"use strict";
const surefootCertify = (() => {
  class InputError extends Error {}
  const need = (holds, text) => { if (!holds) throw new InputError(text); };

  // ---- Reading a table: as the program reads it (io/csv_reader.cpp, certify/count_table.cpp), row by row

  const plainNumber = /^[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?$/;
  const infinite = /^[+-]?(inf|infinity)$/i, notANumber = /^[+-]?nan(\(\w*\))?$/i;
  const isNumber = (cell) => plainNumber.test(cell) || infinite.test(cell) || notANumber.test(cell);
  const valueOf = (cell) => (plainNumber.test(cell) ? Number(cell) : notANumber.test(cell) ? NaN : cell.startsWith("-") ? -Infinity : Infinity);
  const trimmed = (cell) => cell.replace(/^[ \t]+|[ \t]+$/g, "");
  const excerpt = (text) => (text.length > 60 ? `${text.slice(0, 60)}...` : text);
  const isWhole = (value) => value >= 0 && value <= 1e15 && value === Math.floor(value);

  // Cells of a line whose quotes keep separators together.
  function splitCells(line, separator) {
    const cells = [];
    let quoted = false, begin = 0;
    for (let i = 0; i <= line.length; ++i) {
      if (line[i] === '"') quoted = !quoted;
      if (i < line.length && (quoted || line[i] !== separator)) continue;
      cells.push(trimmed(line.slice(begin, i)));
      begin = i + 1;
    }
    return cells;
  }
  const unquoted = (cell) => (/^".*"$/.test(cell) && cell.length > 1 ? cell.slice(1, -1).replace(/""/g, '"') : cell);

  const failureWords = new Set(["timeout", "timedout", "tle", "fail", "fails", "failed", "failure", "error", "diverged", "divergence", "unsolved",
    "infeasible", "unbounded", "crash", "crashed", "killed", "oom", "none", "null", "na", "maxiter"]);
  const meansFailure = (cell) => /^[a-z _/#<>-]*$/i.test(unquoted(cell)) && failureWords.has(unquoted(cell).toLowerCase().replace(/[^a-z]/g, ""));
  const hasDecimalComma = (cells) => cells.some((cell, i) => i > 0 && /^-?\d+$/.test(cells[i - 1]) && /^0\d+$/.test(cell));

  // A first row in which a run failed ("0.5,timeout,timeout") must not be lost as a header.
  function requireHeader(cells) {
    const twice = cells.find((cell, i) => cell !== "" && !isNumber(cell) && cells.indexOf(cell) !== i);
    need(twice === undefined, `row 1: '${excerpt(twice ?? "")}' stands twice: neither a row of numbers nor a header; write inf where a run failed`);
    const values = cells.map((cell) => (isNumber(cell) ? valueOf(cell) : null)), someNumber = values.some((value) => value !== null);
    const steps = values[0] === null && values.slice(1).every((value, i) => value !== null && value > (i === 0 ? -1 : values[i]) && value === Math.floor(value));
    const failed = cells.find(meansFailure);
    need((someNumber && !steps) || failed === undefined, `row 1: '${excerpt(failed ?? "")}' says that a run failed: write inf there, or another label if it is one`);
    need(!someNumber || steps, `row 1: '${excerpt(cells.find((cell) => !isNumber(cell)) ?? "")}' is no number and '${excerpt(cells.find(isNumber) ?? "")}' is no label: neither a row of numbers nor a header; write inf where a run failed`);
  }

  const stepWords = new Set(["k", "it", "iter", "iters", "iteration", "iterations", "step", "steps", "epoch", "epochs", "i", "n", "t"]);

  // [words, iteration] of a label: ["k=", 5] of "k=5", ["", 5] of "5"; null if it says anything else, or leaves a doubt.
  function readLabel(label) {
    const first = label.search(/\d/);
    if (first < 0) return null;
    const words = label.slice(0, first);
    let number = label.slice(first);
    for (const [open, close] of ["[]", "()"]) {
      if (number.endsWith(close) !== words.includes(open)) return null;
      if (number.endsWith(close)) number = number.slice(0, -1);
    }
    if (!plainNumber.test(number) || !isWhole(Number(number)) || (words !== "" && number.includes("."))) return null;
    const known = words.toLowerCase().split(/[=_: [(\-#]/).every((word) => word === "" || stepWords.has(word));
    return known && !/- *$/.test(words) ? [words, Number(number)] : null;
  }

  // { steps } of labels, or { complaint }
  function labelledSteps(labels) {
    const steps = [];
    let words = "";
    for (const [i, label] of labels.entries()) {
      const read = readLabel(label);
      if (!read) return { complaint: `label '${excerpt(label)}' says no step` };
      if (i > 0 && read[0] !== words) return { complaint: `labels '${excerpt(labels[0])}' and '${excerpt(label)}' name different things` };
      if (i > 0 && read[1] <= steps[i - 1]) return { complaint: `labels '${excerpt(labels[i - 1])}' and '${excerpt(label)}' do not increase` };
      words = read[0];
      steps.push(read[1]);
    }
    return { steps };
  }

  // A row of whole numbers that are equally far apart before rows of other numbers is a header; where nobody can tell, it is refused.
  function stepsOfFirstRow(rows) {
    if (rows.length < 2 || rows[0].length < 2) return null;
    const first = rows[0], increases = first.every((value, i) => isWhole(value) && (i === 0 || value > first[i - 1]));
    if (!increases) return null;
    const others = rows[1].some((value) => Number.isFinite(value) && !isWhole(value));
    const even = first.every((value, i) => i < 2 || value - first[i - 1] === first[1] - first[0]);
    need(others && even && first.length >= 3, `the first row (${first[0]} .. ${first[first.length - 1]}) may say the steps or be a run; ` +
      `if it says the steps, label the columns k=${first[0]}, k=${first[1]}, ...; if it is a run, put a line k=1,k=2,... before it`);
    return first;
  }

  // { steps, rows, notices }: what the program would say of how it reads the table
  function readTable(text) {
    const lines = text.replace(/^\ufeff/, "").split("\n").map((line) => line.replace(/\r$/, ""));
    if (lines[lines.length - 1] === "") lines.pop();
    need(lines.length > 0, "the file is empty");
    const nul = lines.findIndex((line) => line.includes("\0"));
    need(nul < 0, `row ${nul + 1} has a NUL byte: this is no text`);
    need(trimmed(lines[0]) !== "", "the first line is blank");
    const separator = ["\t", ";"].find((each) => splitCells(lines[0], each).length > 1) ?? ",";
    const labels = splitCells(lines[0], separator), width = labels.length;
    const headed = (width > 1 && labels[0] === "") || labels.some((cell) => cell !== "" && !isNumber(cell));
    if (headed) requireHeader(labels);
    const names = labels.map(unquoted), skip = headed && names.length > 1 && !/\d/.test(names[0]) ? 1 : 0;
    const found = headed ? labelledSteps(names.slice(skip)) : {};
    need(!headed || found.steps, `the header does not say increasing steps ('${excerpt(names[skip] ?? "")}' .. '${excerpt(names[names.length - 1])}'): ${found.complaint}; label columns k=1, k=2, ...; ` +
      "if each line is one result, surefoot certify --value reads the table");
    while (lines.length > 1 && trimmed(lines[lines.length - 1]) === "") lines.pop();
    let rows = [];
    for (let line = headed ? 1 : 0; line < lines.length; ++line) {
      const where = `row ${line + 1}`, cells = splitCells(lines[line], separator);
      need(separator !== "," || line === 0 || line >= 256 || !hasDecimalComma(cells),
        `${where}: '${excerpt(lines[line])}' has decimal commas; write 0.05, or separate cells by semicolons or tabs and write points`);
      need(trimmed(lines[line]) !== "", `${where}: blank line inside the table`);
      const plain = lines[line].split(separator).map(trimmed);
      need(plain.length === width, `${where}: expected ${width} cells, found ${plain.length}`);
      rows.push(plain.map((cell, column) => {
        need(cell !== "", `${where}, column ${column + 1}: empty cell`);
        need(isNumber(cell), `${where}, column ${column + 1}: '${excerpt(cell)}' is not a number`);
        return valueOf(cell);
      }));
    }
    need(rows.length > 0, "there is a header line but no row after it: the table has no rows");
    if (!headed) {
      const steps = stepsOfFirstRow(rows);
      if (steps) return { steps, rows: rows.slice(1), notices: [`The first row (${steps[0]} .. ${steps[steps.length - 1]}) says the iterations and is not a run.`] };
      return { steps: rows[0].map((_, i) => i + 1), rows, notices: [`No header line: the columns are iterations 1 .. ${width}.`] };
    }
    return { steps: found.steps, rows: skip ? rows.map((row) => row.slice(1)) : rows,
      notices: skip ? [`The first column (${names[0] === "" ? "without a label" : `'${excerpt(names[0])}'`}) is not certified: it is taken to number the problems. If it holds results, label it as an iteration.`] : [] };
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
    // The checker is exact to about 1e-12: a slightly smaller delta and a bound rounded down claim no more than the program.
    const outward = 1 - 1e-11;
    const rank = (share, of) => surefootChecker.rankOf(n, share, of * outward, "exact");
    const successLower = (failures) => Math.max(0, Math.floor(surefootChecker.successLower(failures, n, each.success * outward, "exact") * 1e10 - 1) / 1e10);
    while (!given && shares.length > 1 && rank(shares[shares.length - 1], each.quantile) === 0 && rank(shares[shares.length - 1], each.budget) === 0) {
      shares = shares.slice(0, -1);
      each = shareOut(delta, claimed, tolerances, shares);
    }
    const counts = count(table, tolerances);
    const columns = claimed.map((step) => table.steps.indexOf(step));
    const success = tolerances.flatMap((tolerance, t) => columns.map((c) => ({ step: table.steps[c], tolerance, failures: counts.failures[t][c],
      empirical: (n - counts.failures[t][c]) / n, lower_bound: successLower(counts.failures[t][c]) })));
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
    return { samples: n, recorded: table.steps, notices: table.notices, nonFinite: counts.nonFinite, confidence, delta, tolerances, steps: claimed, shares, each, success, quantile, budget };
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

  const notCovered = "changed after results were shown: not covered by the confidence";

  // Certified numbers are rounded outward: shares down, values and iterations up to what was recorded.
  function csvOf(result) {
    const note = result.changed ? notCovered : "";
    const lines = ["claim,iteration,tolerance,share,count,observed,certified,note"];
    for (const c of result.success) lines.push(["success", c.step, c.tolerance, "", c.failures, c.empirical, c.lower_bound, note].join(","));
    for (const c of result.quantile) lines.push(["quantile", c.step, "", c.quantile, c.rank, c.empirical, c.upper_bound, note].join(","));
    for (const c of result.budget) lines.push(["budget", "", c.tolerance, c.quantile, c.rank, c.empirical ?? "", c.steps ?? "", note].join(","));
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
      ...result.notices.map((text) => element("p", { class: "note" }, text)),
      ...(result.changed ? [element("p", { class: "missing", role: "alert" }, `Tolerances, shares, iterations or confidence were ${notCovered}. ` +
        "Drop new problems on this page to certify these settings.")] : []),
      element("div", { class: "quote" }, element("p", {}, result.changed ? `These claims were ${notCovered}. For the ${metric}:`
        : `With confidence ${result.confidence}, all of these hold together for the ${metric} of new problems, if the rows are independent problems from one distribution:`),
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

  // What was declared when the results of a table were first shown, by the digest of its text: whatever is declared later was
  // chosen after looking.
  const firstShown = new Map();
  function shownFirst(table, declared) {
    const now = JSON.stringify(declared);
    table.digest ??= surefootChecker.sha256OfText(table.text);
    if (!firstShown.has(table.digest)) firstShown.set(table.digest, now);
    return firstShown.get(table.digest) === now;
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
      } else {
        const declared = settings(), result = surefootCertify.certify(text, declared);
        result.changed = !shownFirst(current, declared);
        show(name, result);
      }
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
    let complaint = "the gzip data is damaged";
    try {
      const plain = await new Response(source).arrayBuffer();
      complaint = "this is not UTF-8 text; surefoot certify also reads .npy";
      current = { name: file.name, text: new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(plain) };
    } catch (error) {
      current = null;
      place("result").replaceChildren(element("p", { class: "missing", role: "alert" }, `${file.name}: ${complaint}`));
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
