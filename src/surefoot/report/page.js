// Makes the figures of a report interactive. Everything shown as a number is text that came with the page: nothing is
// rounded here. Without this script (or without the charting library) the static figures stay in place.
"use strict";
(() => {
  const source = document.getElementById("chart-data");
  if (!source || typeof Dygraph === "undefined") return;
  const { sets } = JSON.parse(source.textContent);

  // Okabe and Ito's palette, safe for all kinds of colour vision; on dark pages its lighter half comes first.
  const palettes = {
    light: ["#0072B2", "#D55E00", "#009E73", "#CC79A7", "#B07800", "#3A93C8"],
    dark: ["#56B4E9", "#E69F00", "#2DC49A", "#DD9CC2", "#F0E442", "#EE7A30"],
  };
  const observedDash = [6, 4];
  const methodDashes = [null, [12, 3, 2, 3], [2, 3]];
  const darkPage = window.matchMedia("(prefers-color-scheme: dark)");
  const palette = () => (darkPage.matches ? palettes.dark : palettes.light);
  const ofPage = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();

  let lastId = 0;
  function element(tag, attributes = {}, ...children) {
    const made = document.createElement(tag);
    for (const [name, value] of Object.entries(attributes)) {
      if (name in made && typeof value !== "string") made[name] = value;
      else made.setAttribute(name, value);
    }
    made.append(...children);
    return made;
  }

  function labelled(text, control) {
    control.id = `control-${++lastId}`;
    return element("div", { class: "control" }, element("label", { for: control.id }, text), control);
  }

  function choice(options, onchange) {
    const select = element("select", { onchange });
    for (const [value, text] of options) select.append(element("option", { value: String(value) }, text));
    return select;
  }

  // Powers of ten, and 2 and 5 times them where there is room, `apart` pixels between marks; in a short range, where there
  // are hardly any of those, round numbers at equal distances.
  function logTicks(low, high, pixels, apart) {
    const first = Math.floor(Math.log10(low)), last = Math.ceil(Math.log10(high));
    const perDecade = pixels / Math.max(0.1, Math.log10(high / low));
    const stride = Math.max(1, Math.ceil(apart / perDecade));
    const factors = perDecade > 4 * apart ? [1, 2, 5] : [1];
    const ticks = [];
    for (let power = first; power <= last; ++power) {
      for (const factor of factors) {
        const value = Number(`${factor}e${power}`);
        if (value < low * 0.9999 || value > high * 1.0001 || (power - first) % stride !== 0) continue;
        const plain = value >= 1e-2 && value < 1e5;
        ticks.push({ v: value, label: plain ? String(value) : `${factor}e${power}` });
      }
    }
    if (ticks.length > 1 || !(high > low)) return ticks;
    const rough = (high - low) * Math.max(0.2, apart / pixels), power = Math.floor(Math.log10(rough));
    const step = [1, 2, 5, 10].map((factor) => factor * 10 ** power).find((each) => each >= rough);
    const even = [];
    for (let place = Math.ceil(low / step); place * step <= high; ++place) {
      const value = Number((place * step).toPrecision(12));
      even.push({ v: value, label: String(Number(value.toPrecision(6))) });
    }
    return even.length > ticks.length ? even : ticks;
  }

  class Chart {
    constructor(figure, spec, data) {
      this.spec = spec;
      this.data = data;  // of its set: the variants to choose from
      this.logX = spec.x.log;
      this.place = element("div", { class: "interactive" });
      this.addControls();
      this.canvas = element("div", { class: "canvas", role: "img", "aria-label": spec.title });
      this.slider = element("input", { type: "range", min: "0", step: "1", oninput: () => this.show(Number(this.slider.value)) });
      this.readout = element("div", { class: "readout scroll", "aria-live": "polite" });
      const plot = element("div", { class: "plot" }, element("div", { class: "axis" }, spec.y.label), this.canvas, labelled(spec.x.label.replace(/^./, (first) => first.toUpperCase()), this.slider));
      this.place.append(plot, this.readout);  // which is the legend too
      this.slider.parentElement.classList.add("slider");
      figure.prepend(this.place);
      figure.classList.add("live");
      this.draw();
      darkPage.addEventListener("change", () => this.draw());
      new ResizeObserver(() => this.graph.resize()).observe(this.canvas);
    }

    addControls() {
      const { spec, data } = this;
      const redraw = () => this.draw();
      const bar = element("div", { class: "controls" });
      const names = data.variants.map((name, place) => [place, name]);
      const parameters = spec.parameters.map((name, place) => [place, name]);
      const many = data.variants.length > 1;
      this.variant = choice(many ? [...names, ["all", "all, one colour each"]] : names, () => {
        if (this.variant.value === "all" && this.parameter.value === "all") this.parameter.value = String(spec.preferred);
        redraw();
      });
      this.parameter = choice([["all", "all, one colour each"], ...parameters], () => {
        if (this.variant.value === "all" && this.parameter.value === "all") this.variant.value = "0";
        redraw();
      });
      this.method = choice([...(spec.methods.length > 1 ? [["all", "all"]] : []), ...spec.methods.map((m, i) => [i, m])], redraw);
      if (many && data.variantsFirst) {
        this.variant.value = "all";
        this.parameter.value = String(spec.preferred);
      }
      if (many) bar.append(labelled("Variant", this.variant));
      bar.append(labelled(spec.parameterName, this.parameter));
      if (spec.methods.length > 1) bar.append(labelled("Method", this.method));
      this.observed = element("input", { type: "checkbox", checked: true, onchange: redraw });
      this.log = element("input", { type: "checkbox", checked: this.logX, onchange: () => { this.logX = this.log.checked; redraw(); } });
      for (const [text, box] of [["Observed", this.observed], [`Log ${spec.x.label}s`, this.log]]) {
        bar.append(element("label", { class: "control tick" }, box, text));
      }
      const zoom = element("div", { class: "control zoom", role: "group", "aria-label": "Zoom" });
      for (const [text, hint, factor] of [["+", `Zoom in around the ${spec.x.label}`, 0.5], ["−", "Zoom out", 2], ["Whole", "Show everything", 0]]) {
        zoom.append(element("button", { type: "button", title: hint, "aria-label": hint, onclick: () => this.zoom(factor) }, text));
      }
      bar.append(zoom);
      this.place.append(bar);
    }

    // The series in view and what names and colours each.
    chosen() {
      const { spec, data } = this;
      const wanted = (select, place) => select.value === "all" || Number(select.value) === place;
      const byVariant = this.variant.value === "all";
      return spec.series
        .filter((s) => wanted(this.variant, s.variant) && wanted(this.parameter, s.parameter) && wanted(this.method, s.method))
        .map((s) => ({
          ...s,
          hue: byVariant ? s.variant : s.parameter,
          name: (byVariant ? data.variants[s.variant] : spec.parameters[s.parameter]) +
            (spec.methods.length > 1 && this.method.value === "all" ? `, ${spec.methods[s.method]}` : ""),
        }));
    }

    draw() {
      const { spec } = this;
      this.series = this.chosen();
      const steps = new Set();
      for (const s of this.series) s.steps.forEach((step) => { if (!this.logX || step > 0) steps.add(step); });
      this.steps = [...steps].sort((a, b) => a - b);
      for (const s of this.series) s.place = new Map(s.steps.map((step, place) => [step, place]));
      const inside = (y) => (spec.y.log ? Math.max(y, spec.y.low) : y);
      const cell = (s, values, step) => {
        const place = s.place.get(step);
        if (place === undefined) return null;  // not recorded: the line goes on
        return values[place] === null ? NaN : inside(values[place]);  // no guarantee: the line is interrupted
      };
      const withObserved = this.observed.checked;
      const rows = this.steps.map((step) => [step, ...this.series.flatMap((s) =>
        withObserved ? [cell(s, s.certified, step), cell(s, s.observed, step)] : [cell(s, s.certified, step)])]);
      const labels = ["iteration"], styles = {}, colors = [];
      this.series.forEach((s, i) => {
        const color = palette()[s.hue % palette().length];
        s.color = color;
        labels.push(`c${i}`);
        colors.push(color);
        // Claims hold at their steps alone: a staircase where every step has one, points elsewhere.
        const everyStep = s.steps.length > 12 && s.steps.every((step, place) => place === 0 || step === s.steps[place - 1] + 1);
        styles[`c${i}`] = everyStep
          ? { strokeWidth: 2.4, strokePattern: methodDashes[s.method % methodDashes.length], stepPlot: true }
          : { strokeWidth: 0, drawPoints: true, pointSize: 2.2 };
        if (!withObserved) return;
        labels.push(`o${i}`);
        colors.push(color);
        styles[`o${i}`] = { strokeWidth: 1.3, strokePattern: observedDash };
      });
      if (this.graph) this.graph.destroy();
      if (rows.length === 0) rows.push([1, ...labels.slice(1).map(() => null)]);
      const first = rows[0][0], last = rows[rows.length - 1][0];
      const log = (apart) => (low, high, pixels) => logTicks(low, high, pixels, apart);
      const risen = spec.y.percent ? rows.findIndex((row) => row.slice(1).some((y) => y > 0)) : -1;
      const from = risen > 0 ? rows[risen - 1][0] : this.logX ? Math.max(first, spec.x.low) : spec.x.low > 0 && spec.x.low < last ? spec.x.low : Math.min(first, spec.x.low);
      this.whole = from < last ? [from, last] : [first - 1, last + 1];
      const mouse = { ...Dygraph.defaultInteractionModel };
      for (const touch of ["touchstart", "touchmove", "touchend"]) delete mouse[touch];  // fingers scroll the page
      this.graph = new Dygraph(this.canvas, rows, {
        labels, colors, series: styles, legend: "never", connectSeparatedPoints: true, interactionModel: mouse,
        drawPoints: rows.length <= 12, pointSize: 2.5, highlightCircleSize: 4, animatedZooms: false,
        valueRange: [spec.y.low, spec.y.percent ? spec.y.high * 1.02 : spec.y.high], logscale: spec.y.log, dateWindow: this.whole,
        axisLineColor: ofPage("--quiet"), gridLineColor: ofPage("--line"), gridLineWidth: 0.7,
        axes: {
          x: { logscale: this.logX, axisLabelWidth: 60, ...(this.logX ? { ticker: log(50) } : {}), axisLabelFormatter: (x) => x.toLocaleString("en") },
          y: {
            axisLabelWidth: 52, ...(spec.y.log ? { ticker: log(26) } : {}),
            axisLabelFormatter: (y) => (spec.y.percent ? `${Math.round(1000 * y) / 10} %` : String(Number(y.toPrecision(6)))),
          },
        },
        highlightCallback: (event, x) => this.show(this.steps.indexOf(x), true),
        zoomCallback: () => this.mark(),
      });
      this.slider.max = String(Math.max(0, this.steps.length - 1));
      const kept = this.steps.indexOf(this.step);
      this.show(kept >= 0 ? kept : this.steps.length - 1);
    }

    // Shows the values at the place-th of the steps; `pointed`: the pointer is there, the chart marks it already.
    show(place, pointed = false) {
      if (place < 0 || place >= this.steps.length) return;
      this.step = this.steps[place];
      this.slider.value = String(place);
      const name = this.spec.x.label, shown = this.step.toLocaleString("en");
      this.slider.setAttribute("aria-valuetext", `${name} ${this.step}`);
      if (!pointed) this.mark();
      const text = (s, texts) => (s.place.has(this.step) ? texts[s.place.get(this.step)] : "not recorded");
      const table = element("table");
      table.append(element("thead", {}, element("tr", {}, element("th", { scope: "col", class: "left" }, name === "limit" ? `limit ${shown}` : `after ${shown} ${name}${this.step === 1 ? "" : "s"}`),
        element("th", { scope: "col" }, "certified"), element("th", { scope: "col" }, "observed"))));
      const body = element("tbody");
      for (const s of this.series) {
        const swatch = element("span", { class: "swatch" });
        swatch.style.background = s.color;
        body.append(element("tr", {}, element("th", { scope: "row", class: "left" }, swatch, s.name),
          element("td", { class: "certified" }, text(s, s.certifiedText)), element("td", { class: "observed" }, text(s, s.observedText))));
      }
      table.append(body);
      this.readout.replaceChildren(table);
    }

    mark() {
      const row = this.steps.indexOf(this.step);
      if (row >= 0) this.graph.setSelection(row);
    }

    zoom(factor) {
      if (factor === 0) {
        this.graph.updateOptions({ dateWindow: this.whole, valueRange: [this.spec.y.low, this.spec.y.percent ? this.spec.y.high * 1.02 : this.spec.y.high] });
        return this.mark();
      }
      const forth = this.logX ? Math.log : (x) => x, back = this.logX ? Math.exp : (x) => x;
      const [low, high] = this.graph.xAxisRange().map(forth);
      const centre = Math.min(high, Math.max(low, forth(this.step)));
      const [least, most] = this.whole.map(forth);
      const from = Math.max(least, centre - factor * (centre - low)), to = Math.min(most, centre + factor * (high - centre));
      this.graph.updateOptions({ dateWindow: [back(from), back(to)] });
      this.mark();
    }
  }

  // Pick a variant, a tolerance and a share: the sentence to quote.
  function addQuestion(place, data) {
    const columns = [["Variant", "variant"], ["Below", "tolerance"], [`Share of ${data.things}`, "share"], ["Method", "method"]];
    const selects = new Map();
    const answer = element("p", { class: "answer", "aria-live": "polite" });
    const tell = () => {
      const found = data.budgets.find((b) => [...selects].every(([key, select]) => b[key] === select.value));
      answer.textContent = found ? found.sentence : "Nothing is claimed for this choice.";
    };
    const bar = element("div", { class: "controls" });
    for (const [text, key] of columns) {
      const values = [...new Set(data.budgets.map((b) => b[key]))];
      const select = choice(values.map((v) => [v, v]), tell);
      selects.set(key, select);
      if (values.length > 1) bar.append(labelled(text, select));
    }
    const certain = data.budgets.filter((b) => b.certain);
    const best = certain.reduce((a, b) => (parseFloat(b.share) > parseFloat(a.share) ? b : a), certain[0]);
    if (best) for (const [key, select] of selects) select.value = best[key];
    const copy = element("button", { type: "button", onclick: () => {
      getSelection().selectAllChildren(answer);
      document.execCommand("copy");
      copy.textContent = "Copied";
      setTimeout(() => { copy.textContent = "Copy sentence"; }, 1500);
    } }, "Copy sentence");
    place.append(element("div", { class: "question" }, element("h3", {}, "A sentence to quote"), bar, answer, copy));
    tell();
  }

  // Move tolerance, share and iteration: what follows from all claims, which may be combined. The page compares
  // numbers and shows texts; it rounds nothing.
  function addFreeChoice(place, free) {
    const range = (count, at) => element("input", { type: "range", min: "0", max: String(count - 1), step: "1", value: String(at), oninput: () => tell() });
    const variant = choice(free.variants.map((v, i) => [i, v.name]), () => { fit(); tell(); });
    const when = choice([["within", "and later"], ["after", "at this iteration"]], () => tell());
    const step = range(1, 0);
    const tolerance = range(free.tolerances.length, Math.floor(free.tolerances.length / 2));
    const share = range(free.shares.length, free.shares.findIndex((s) => s[0] === 0.9));
    const texts = { step: element("output"), tolerance: element("output"), share: element("output") };
    const answers = { share: element("p", { class: "answer", "aria-live": "polite" }), value: element("p", { class: "answer", "aria-live": "polite" }) };
    const of = () => free.variants[Number(variant.value)];
    const fit = () => {
      step.max = String(of().steps.length - 1);
      step.value = step.max;
    };
    const unit = free.unit ? ` ${free.unit}` : "";
    const lasting = (v, k, within) => (within && k < v.last ? ` and ${v.gaps ? "at every later recorded iteration" : "later"} (up to iteration ${v.last.toLocaleString("en")})` : "");
    // Claims that speak of iteration k, or of it and all later ones: 0 a step, 1 each later step, 2 all later steps.
    const speaking = (v, k, within) => v.claims.filter(([at, about]) => (within ? about === 2 && at <= k : at === k || (about > 0 && at <= k)));
    const tell = () => {
      const v = of(), k = v.steps[Number(step.value)], within = when.value === "within";
      const [bound, boundText] = free.tolerances[Number(tolerance.value)], [wanted, wantedText] = free.shares[Number(share.value)];
      texts.step.textContent = k === undefined ? "" : k.toLocaleString("en");
      texts.tolerance.textContent = boundText;
      texts.share.textContent = wantedText;
      let best = -1, least = null, leastStrict = false;
      for (const [, , strict, points] of speaking(v, k, within)) {
        for (const [value, at] of points) {
          if ((strict || free.scalar ? value <= bound : value < bound) && at > best) best = at;
          if (v.shares[at][0] >= wanted && (least === null || value < least)) { least = value; leastStrict = strict; }
        }
      }
      const iterations = free.scalar ? "" : ` after ${k.toLocaleString("en")} iteration${k === 1 ? "" : "s"}${lasting(v, k, within)}`;
      const condition = free.condition ? `${free.condition[0].toUpperCase()}${free.condition.slice(1)}, with` : "With";
      const opening = `${condition} confidence ${free.confidence}${free.variants.length > 1 ? `, for ${v.name}` : ""}: ${free.subject}at least `;
      const below = free.scalar ? "at most" : "below";
      const certified = best >= 0 && v.shares[best][1] !== "-";
      answers.share.textContent = certified ? `${opening}${v.shares[best][1]} ${free.are} ${below} ${boundText}${iterations}.`
        : `Nothing is certified ${below} ${boundText}${iterations}.`;
      answers.share.dataset.share = certified ? v.shares[best][1] : "-";
      answers.value.textContent = least === null ? `Nothing is certified for ${wantedText} of new ${free.things}${iterations}.`
        : `${opening}${wantedText} ${free.are} ${leastStrict ? "below" : "at most"} ${least}${unit}${iterations}.`;
      answers.value.dataset.value = least === null ? "-" : String(least);
    };
    const bar = element("div", { class: "controls" });
    if (free.variants.length > 1) bar.append(labelled("Variant", variant));
    if (free.scalar) when.value = "after";
    else bar.append(labelled("Holds", when));
    const slider = (text, control, shown) => {
      const made = labelled(text, control);
      made.classList.add("slider");
      made.append(shown);
      return made;
    };
    place.append(element("div", { class: "question free" }, element("h3", {}, "Choose after looking"), bar,
      free.scalar ? "" : slider("Iteration", step, texts.step), slider("Tolerance", tolerance, texts.tolerance), answers.share,
      slider(`Share of ${free.things}`, share, texts.share), answers.value));
    fit();
    tell();
  }

  for (const data of sets) {
    for (const spec of data.charts) {
      const figure = document.querySelector(`figure[data-chart="${spec.id}"]`);
      if (figure) new Chart(figure, spec, data);
    }
    const question = document.getElementById(data.question);
    if (question && data.budgets.length > 0) addQuestion(question, data);
    const choosing = document.getElementById("bands");
    if (choosing && data.free) addFreeChoice(choosing, data.free);
  }
})();
