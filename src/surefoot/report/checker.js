// Recomputes the claims of a certificate from its counts. This is a second implementation of the bounds, in double
// precision and by other formulas than the library's: an error would have to be made twice to go unseen. Nothing here
// touches a page, so that the report, certify.html and the tests use the same functions.
//
// Tail probabilities: C. Loader, "Fast and Accurate Computation of Binomial Probabilities" (2000) for one term, and
// sums of positive terms from there. Agreement with the library is to about 1e-12; what is compared is compared to
// `tolerance`, and a rank is a whole number.
"use strict";
const surefootChecker = (() => {
  const tolerance = 1e-9;
  const mostBandSamples = 100000;  // the bands of more are not recomputed here, and the page says so

  // ---- SHA-256 (FIPS 180-4): pages that are opened as files have no crypto.subtle in every browser

  const roundConstants = [], initialHash = [];
  for (let number = 2; roundConstants.length < 64; ++number) {
    let prime = true;
    for (let factor = 2; factor * factor <= number; ++factor) if (number % factor === 0) prime = false;
    if (!prime) continue;
    const fraction = (root) => Math.floor((root - Math.floor(root)) * 2 ** 32) >>> 0;
    if (initialHash.length < 8) initialHash.push(fraction(Math.sqrt(number)));
    roundConstants.push(fraction(Math.cbrt(number)));
  }

  function sha256(bytes) {
    const padded = new Uint8Array((Math.floor((bytes.length + 8) / 64) + 1) * 64);
    padded.set(bytes);
    padded[bytes.length] = 0x80;
    const view = new DataView(padded.buffer);
    view.setUint32(padded.length - 8, Math.floor(bytes.length / 2 ** 29));
    view.setUint32(padded.length - 4, (bytes.length << 3) >>> 0);
    const hash = Uint32Array.from(initialHash), words = new Uint32Array(64);
    const turned = (x, by) => (x >>> by) | (x << (32 - by));
    for (let block = 0; block < padded.length; block += 64) {
      for (let i = 0; i < 16; ++i) words[i] = view.getUint32(block + 4 * i);
      for (let i = 16; i < 64; ++i) {
        const early = words[i - 15], late = words[i - 2];
        words[i] = words[i - 16] + (turned(early, 7) ^ turned(early, 18) ^ (early >>> 3)) + words[i - 7] +
          (turned(late, 17) ^ turned(late, 19) ^ (late >>> 10));
      }
      let [a, b, c, d, e, f, g, h] = hash;
      for (let i = 0; i < 64; ++i) {
        const first = (h + (turned(e, 6) ^ turned(e, 11) ^ turned(e, 25)) + ((e & f) ^ (~e & g)) + roundConstants[i] + words[i]) | 0;
        const second = ((turned(a, 2) ^ turned(a, 13) ^ turned(a, 22)) + ((a & b) ^ (a & c) ^ (b & c))) | 0;
        [h, g, f, e, d, c, b, a] = [g, f, e, (d + first) | 0, c, b, a, (first + second) | 0];
      }
      [a, b, c, d, e, f, g, h].forEach((word, i) => { hash[i] += word; });
    }
    return [...hash].map((word) => word.toString(16).padStart(8, "0")).join("");
  }

  const sha256OfText = (text) => sha256(new TextEncoder().encode(text));

  // The text of a certificate that its digest is of: without blanks between tokens and without the digest.
  function digestedText(text) {
    const tokens = text.match(/"(?:[^"\\]|\\.)*"|[^\s"]+/g) ?? [];
    const compact = tokens.join("");
    return compact.replace(/,"digest":\{"algorithm":"sha256","value":"[^"]*"\}\}$/, "}");
  }

  // ---- Tail probabilities

  // log Gamma(z + 1) - (z + 1/2) log z + z - (1/2) log 2 pi, z > 0
  function stirlingError(z) {
    let sum = 0;
    for (; z < 16; ++z) sum += (z + 0.5) * Math.log1p(1 / z) - 1;
    const r = 1 / z, r2 = r * r;
    return sum + r * (1 / 12 - r2 * (1 / 360 - r2 * (1 / 1260 - r2 * (1 / 1680 - r2 / 1188))));
  }

  // x log(x / m) + m - x >= 0 without cancellation
  function deviance(x, m) {
    const d = x - m;
    if (Math.abs(d) >= 0.1 * (x + m)) return x * Math.log(x / m) - d;
    const v = d / (x + m);
    let term = 2 * x * v, sum = d * v;
    for (let j = 1; j < 1000; ++j) {
      term *= v * v;
      const next = sum + term / (2 * j + 1);
      if (next === sum) break;
      sum = next;
    }
    return sum;
  }

  // log( p^a (1-p)^b / B(a, b) ), a, b > 0
  function logBetaTerm(a, b, p) {
    const n = a + b;
    return Math.log(a) + Math.log(b / n) + stirlingError(n) - stirlingError(a) - stirlingError(b) -
      deviance(a, n * p) - deviance(b, n * (1 - p)) + 0.5 * Math.log(n / (2 * Math.PI * a * b));
  }

  // sum over n of (a+b)(a+b+1).../((a+1)(a+2)...) p^n: I_p(a, b) is this times p^a (1-p)^b / (a B(a, b)).
  function betaSeries(a, b, p) {
    let term = 1, sum = 1;
    for (let n = 0; term > sum * 1e-17; ++n) {
      term *= ((a + b + n) / (a + 1 + n)) * p;
      sum += term;
      if (n > 2e7) return NaN;
    }
    return sum;
  }

  // log I_p(a, b), the regularised incomplete beta function
  function logBeta(a, b, p) {
    if (p <= 0) return -Infinity;
    if (p >= 1) return 0;
    if (p * (a + b) <= a) return logBetaTerm(a, b, p) - Math.log(a) + Math.log(betaSeries(a, b, p));
    const other = Math.exp(logBetaTerm(a, b, p) - Math.log(b)) * betaSeries(b, a, 1 - p);
    return Math.log1p(-Math.min(1, other));
  }

  // log P(Bin(n, p) >= k) and log P(Bin(n, p) <= k)
  const logTail = (k, n, p) => (k <= 0 ? 0 : k > n ? -Infinity : logBeta(k, n - k + 1, p));
  const logCdf = (k, n, p) => (k < 0 ? -Infinity : k >= n ? 0 : logBeta(n - k, k + 1, 1 - p));

  // Where an increasing f becomes nonnegative in (low, high): bisection, then secants inside the bracket.
  function root(f, low, high) {
    let below = f(low), above = f(high), side = 0;
    for (let round = 0; round < 200 && high - low > 1e-16 * high; ++round) {
      const known = Number.isFinite(below) && Number.isFinite(above) && above > below && round > 3;
      let at = known ? high - (above * (high - low)) / (above - below) : low + (high - low) / 2;
      if (!(at > low && at < high)) at = low + (high - low) / 2;
      if (!(at > low && at < high)) break;
      const value = f(at);
      if (value >= 0) { high = at; above = value; if (side > 0) below /= 2; side = 1; }
      else { low = at; below = value; if (side < 0) above /= 2; side = -1; }
      if (value === 0) break;
    }
    return high;
  }

  function remembered(compute) {
    const known = new Map();
    return (...given) => {
      const key = given.join();
      if (!known.has(key)) known.set(key, compute(...given));
      return known.get(key);
    };
  }

  // ---- Bounds: an upper bound on the failure probability by each method

  // P(Bin(n, p) <= failures) = delta (C. Clopper, E. Pearson 1934)
  function clopperPearson(failures, n, delta) {
    if (failures >= n) return 1;
    if (failures === 0) return -Math.expm1(Math.log(delta) / n);
    return root((p) => Math.log(delta) - logCdf(failures, n, p), failures / n, 1);
  }

  // q log(q / p) + (1-q) log((1-q) / (1-p))
  const kl = (q, p) => (q > 0 ? deviance(q, p) : p) + (q < 1 ? deviance(1 - q, 1 - p) : 1 - p);

  function klInverse(q, c) {
    if (q >= 1) return 1;
    if (q <= 0) return -Math.expm1(-c);
    return root((p) => kl(q, p) - c, q, 1);
  }

  // log M_n(p) of the mixture of likelihood ratios with Beta(1/2, 1/2) (J. Ville 1939), without -log delta
  function logMixture(failures, n, p) {
    const a = failures + 0.5, b = n - failures + 0.5;
    return logBeta(a, b, p) + 0.5 * Math.log(p * (1 - p)) - logBetaTerm(a, b, p) - Math.log(2 * Math.asin(Math.sqrt(p)));
  }

  function anytimeUpper(failures, n, delta) {
    if (failures >= n) return 1;
    return root((p) => logMixture(failures, n, p) + Math.log(delta), Math.max(failures / n, 1e-300), 1 - 2 ** -53);
  }

  const riskUpper = remembered((failures, n, delta, method) => {
    const c = Math.log(2 / delta) / n;
    switch (method) {
      case "exact": return clopperPearson(failures, n, delta);
      case "kl": return klInverse(failures / n, c);
      case "pinsker": return Math.min(1, failures / n + Math.sqrt(0.5 * c));
      case "anytime": return anytimeUpper(failures, n, delta);
      default: return NaN;
    }
  });

  const successLower = (failures, n, delta, method) => Math.max(0, 1 - riskUpper(failures, n, delta, method));

  // The smallest rank whose order statistic bounds the quantile; 0 if there is none.
  const rankOf = remembered((n, quantile, delta, method) => {
    const enough = (rank) => (method === "anytime"
      ? rank > 0 && logMixture(n - rank, n, 1 - quantile) >= -Math.log(delta)
      : logTail(rank, n, quantile) <= Math.log(delta));
    if (!enough(n)) return 0;
    let no = 0, yes = n;
    while (yes - no > 1) {
      const middle = no + Math.floor((yes - no) / 2);
      if (enough(middle)) yes = middle; else no = middle;
    }
    return yes;
  });

  // The smallest rank r >= quantile n; 0.3 of 10 is 3, although 0.3 * 10 may round above it.
  const observedRank = (n, quantile) => Math.min(n, Math.max(1, Math.ceil(quantile * n * (1 - 4e-16))));

  // ---- PAC-Bayes: what a guarantee charges, and the risk of weights that are drawn anew

  function regularizerOf(g) {
    const positions = g.positions.reduce((sum, a) => sum + 2 * Math.log(a) + Math.log(Math.PI ** 2 / 6), 0);
    return (g.kl + positions + Math.log(2) + 0.5 * Math.log(g.samples) - Math.log(g.delta_each)) / g.samples;
  }
  const expectedRisk = remembered((failures, runs, c) => klInverse(failures / runs, c));
  const chargedRisk = remembered(klInverse);
  function learnedRisk(g, failures) {
    const c = g.design === "stratified" ? -Math.log(g.omega_each) / g.runs : Math.log(2 / g.omega_each) / g.draws;
    return chargedRisk(expectedRisk(failures, g.runs, c), g.regularizer);
  }
  const unionDelta = (g, losses) => losses * (g.prior_means * g.delta_each + g.candidates * g.omega_each);

  function checkGuarantees(certificate, findings) {
    const first = certificate.variants[0].pac_bayes;
    for (const { name, pac_bayes: g, samples } of certificate.variants) {
      const expect = (holds, text) => { if (!holds) findings.push(`guarantee of '${name}': ${text}`); };
      expect(g !== undefined, "there is none, the others are by PAC-Bayes");
      if (g === undefined) continue;
      expect(g.samples === samples && g.runs === g.samples * g.draws, "its runs are not its samples times its draws");
      expect(near(regularizerOf(g), g.regularizer), `its KL and prior give B = ${regularizerOf(g)}, not ${g.regularizer}`);
      expect(["losses", "prior_means", "candidates", "delta_each", "omega_each"].every((key) => g[key] === first[key]), "its shares are not those of the other variants");
      expect(g.design === "stratified" || g.design === "paper", `its design '${g.design}' is not known`);
    }
    const { shares, simultaneous } = certificate.confidence;
    if (simultaneous !== "all") return;
    const fits = (share, claims, delta) => share && share.claims === claims && share.delta_each === delta;
    if (!fits(shares[0], first.losses * first.prior_means, first.delta_each) || !fits(shares[1], first.losses * first.candidates, first.omega_each))
      findings.push("the shares of the confidence are not those of the guarantee");
  }

  // ---- Bands (R. Berk, D. Jones 1979): P( some U_(r) lies below L_r(level) ), by following the number of points below
  // the boundaries as a Markov chain with binomial increments.

  function bandRanks(n) {
    if (n <= 10000) return Array.from({ length: n }, (_, i) => i + 1);
    const ranks = [];
    for (let d = 1; 2 * d <= n + 1; d += d < 100 ? 1 : 1 + Math.floor((d - 100) / 50)) ranks.push(d);
    for (let i = ranks.length; i-- > 0;) if (n + 1 - ranks[i] > ranks[ranks.length - 1]) ranks.push(n + 1 - ranks[i]);
    return ranks;
  }

  function crossing(n, level) {
    let first = 0, mass = [1], crossed = 0, time = 0;
    const goal = Math.log(level);
    for (const rank of bandRanks(n)) {
      // The level-quantile of Beta(rank, n - rank + 1): Newton's steps on the concave log I from the left of it.
      let boundary = Math.max(time, level ** (1 / rank) * 1e-3, Number.MIN_VALUE);
      for (let round = 0; round < 200; ++round) {
        const at = logBeta(rank, n - rank + 1, boundary);
        const slope = Math.exp(logBetaTerm(rank, n - rank + 1, boundary) - at) / (boundary * (1 - boundary));
        const step = (goal - at) / slope;
        const next = Math.min(boundary + step, 1 - (1 - boundary) / 2);
        if (Math.abs(next - boundary) <= 1e-15 * boundary) break;
        boundary = next > 0 ? next : boundary / 2;
      }
      const p = (boundary - time) / (1 - time), next = [];
      mass.forEach((weight, i) => {
        const left = n - first - i;
        if (!(weight > 1e-40)) return;
        const mode = Math.floor((left + 1) * p);
        const logAt = mode <= 0 ? left * Math.log1p(-p) : mode >= left ? left * Math.log(p) : logBetaTerm(mode + 1, left - mode + 1, p) - Math.log(p * (1 - p)) - Math.log(left + 1);
        const peak = Math.exp(logAt) * weight, odds = p / (1 - p);
        for (let k = mode, at = peak; k <= left && at > peak * 1e-19; at *= ((left - k) / (k + 1)) * odds, ++k) next[i + k] = (next[i + k] ?? 0) + at;
        for (let k = mode - 1, at = peak * (mode / ((left - mode + 1) * odds)); k >= 0 && at > peak * 1e-19; at *= k / ((left - k + 1) * odds), --k) next[i + k] = (next[i + k] ?? 0) + at;
      });
      const kept = Math.max(0, rank - first);
      for (let i = kept; i < next.length; ++i) crossed += next[i] ?? 0;
      let start = 0;
      while (start < Math.min(kept, next.length) - 1 && !(next[start] > 1e-40)) ++start;
      mass = Array.from({ length: Math.max(1, Math.min(kept, next.length) - start) }, (_, i) => next[start + i] ?? 0);
      first += start;
      time = boundary;
    }
    return crossed;
  }
  const crossingOf = remembered(crossing);

  // ---- Means and averages of groups: histograms "share:count share:count ..."

  function sharesIn(text) {
    return text === "" ? [] : text.split(" ").map((each) => each.split(":").map(Number));
  }

  function averageOf(shares) {
    let sum = 0, count = 0;
    for (const [share, groups] of shares) { sum += share * groups; count += groups; }
    return [sum / count, count];
  }

  // log of the average wealth of `bets` bettors against the mean m, less what rounding may cost and log(1/delta): its
  // root is the bound by betting.
  function logWealth(shares, groups, delta, bets, m) {
    const phi = Math.asin(Math.sqrt(m));
    const logs = [];
    for (let j = 0; j < bets; ++j) {
      const v = (j + 0.5) / bets;
      const below = Math.cos(v * phi) ** 2 / (1 - m), above = Math.sin(v * phi) ** 2 / m;
      let log = 0;
      for (const [share, count] of shares) log += count * Math.log((1 - share) * below + share * above);
      logs.push(log);
    }
    const largest = Math.max(...logs);
    const error = 1e-13 + groups * Number.EPSILON * (64 + 4 * bets);
    return largest + Math.log(logs.reduce((sum, log) => sum + Math.exp(log - largest), 0)) - (-Math.log(delta) + Math.log(bets) + error);
  }

  // Whether `bound` is the bound on the mean: for betting the sign changes there.
  function isMeanBound(shares, delta, method, anytime, bound) {
    const [mean, groups] = averageOf(shares);
    if (method === "kl" && !anytime) return near(klInverse(Math.min(1, mean), -Math.log(delta) / groups), bound);
    if (bound >= 1) return mean >= 1 || logWealth(shares, groups, delta, betsOf(groups, anytime), 1 - 1e-9) < 0;
    const bets = betsOf(groups, anytime), apart = tolerance * bound;
    if (!(bound - apart > mean)) return false;
    return logWealth(shares, groups, delta, bets, bound + apart) >= 0 && logWealth(shares, groups, delta, bets, bound - apart) < 0;
  }
  const betsOf = (groups, anytime) => (anytime ? 1024 : Math.max(64, Math.ceil(4 * Math.sqrt(groups))));

  // For one sequence with any dependence: the bound at every length at once.
  function logSequence(failures, n, m) {
    const a = failures + 0.5, b = n - failures - 0.5;
    const mixed = Math.log(3 / 8) + logBeta(a, b, m) - logBetaTerm(a, b, m);
    if (failures > 0) return mixed;
    const clean = Math.log(1 / 4) - n * Math.log1p(-m), larger = Math.max(mixed, clean);
    return larger + Math.log1p(Math.exp(Math.min(mixed, clean) - larger));
  }
  function sequenceUpper(failures, n, delta) {
    if (failures >= n) return 1;
    return root((m) => logSequence(failures, n, m) + Math.log(delta), Math.max(failures / n, 1e-300), 1 - 2 ** -53);
  }

  // ---- Claims

  const near = (a, b) => a === b || Math.abs(a - b) <= tolerance * Math.max(Math.abs(a), Math.abs(b), 1e-3);
  const same = (a, b) => a === b || Math.abs(a - b) <= tolerance * Math.max(Math.abs(a), Math.abs(b), 1e-300);
  // 1 - quantile may have been rounded; a risk that is that large is covered.
  const covers = (risk, quantile) => risk <= (1 - quantile) * (1 + tolerance);
  const guarantee = (claim, certificate) => certificate.variants[claim.variant]?.pac_bayes;
  const at = (claim) => (claim.step === undefined ? "" : `iteration ${claim.step}, `);

  // For each kind: why a claim does not hold, or "" if it does, or null if it is not of a kind that is known here.
  const kinds = {
    success_rate: {
      name: "success rates",
      check(claim, certificate) {
        const { failures, samples, delta, method } = claim;
        if (!near((samples - failures) / samples, claim.empirical)) return "the observed share does not follow from the counts";
        if (!(failures >= 0 && failures <= samples)) return "more runs failed than there are";
        if (method !== certificate.declared.grid_method) return "its method is not the declared one";
        const g = guarantee(claim, certificate);
        if (g && !near(delta, unionDelta(g, 1))) return "its losses do not cost its delta";
        const bound = g ? Math.max(0, 1 - learnedRisk(g, failures)) : successLower(failures, samples, delta, method);
        return near(bound, claim.lower_bound) ? "" : `${failures} failures in ${samples} give at least ${bound}, not ${claim.lower_bound}`;
      },
      label: (claim) => `${at(claim)}below ${claim.tolerance}`,
    },
    quantile: {
      name: "quantiles",
      check(claim, certificate) {
        const { samples, quantile, delta, below, rank } = claim, declared = certificate.declared;
        if (!(below >= 0 && below <= claim.at_most && claim.at_most <= samples)) return "its counts do not fit the number of samples";
        const needs = declared.grid.length > 0 ? "grid" : declared.grid_method === "anytime" ? "anytime" : "exact";
        if (claim.method !== needs) return "its method is not the declared one";
        const g = guarantee(claim, certificate);
        if (g && !near(delta, unionDelta(g, declared.grid.length))) return "its losses do not cost its delta";
        if (claim.method === "grid") {
          if (rank !== 0 || below !== claim.at_most) return "a quantile of a grid has no order statistic";
          if (claim.upper_bound === null) return "";
          if (!declared.grid.includes(claim.upper_bound)) return "its bound is not a tolerance of the grid";
          const risk = g ? learnedRisk(g, samples - below) : riskUpper(samples - below, samples, delta / declared.grid.length, declared.grid_method);
          return covers(risk, quantile) ? "" : `${below} of ${samples} below give a risk of ${risk}`;
        }
        const needed = rankOf(samples, quantile, delta, claim.method === "anytime" ? "anytime" : "exact");
        if (needed !== rank) return `the order statistic must be ${needed}, not ${rank}`;
        if (needed === 0) return claim.upper_bound === null ? "" : "a bound is stated where none exists";
        return below < rank && rank <= claim.at_most ? "" : `the stated value is not the ${rank}-th smallest`;
      },
      label: (claim) => `${at(claim)}share ${claim.quantile}`,
    },
    iteration_budget: {
      name: "iteration budgets",
      check(claim, certificate) {
        const { samples, quantile, delta, reached, rank } = claim, before = claim.reached_before;
        if (!(reached >= 0 && reached <= samples && before >= 0 && before <= samples)) return "its counts do not fit the number of samples";
        const { first_step: first, last_step: last, recorded_steps: recorded } = certificate.variants[claim.variant] ?? {};
        const steps = [claim.steps, claim.empirical].filter((step) => step !== null);
        if (!steps.every((step) => step >= first && step <= last && (!recorded || recorded.includes(step)))) return "its iteration was not recorded";
        if (!["settling", "every-step", "first-hit", "paper"].includes(claim.method)) return `its method '${claim.method}' is not known`;
        if (claim.covered_by_confidence !== (claim.method !== "paper")) return "whether the confidence covers it is not what its method says";
        if (claim.method === "paper") {
          if (rank !== 0) return "a budget by method paper has no order statistic";
          if (claim.steps === null) return "";
          const risk = riskUpper(samples - reached, samples, delta, certificate.declared.grid_method);
          return covers(risk, quantile) ? "" : `${reached} of ${samples} give a risk of ${risk}`;
        }
        const g = guarantee(claim, certificate);
        if (g) {
          const enough = (count) => covers(learnedRisk(g, samples - count), quantile);
          if (!near(delta, unionDelta(g, certificate.variants[claim.variant].columns))) return "its losses do not cost its delta";
          if (claim.steps === null) return enough(reached) ? "no budget is stated although the counts give one" : "";
          if (!enough(reached)) return `${reached} of ${samples} are not enough`;
          return enough(before) ? "an earlier iteration would do" : "";
        }
        const needed = rankOf(samples, quantile, delta, certificate.declared.grid_method === "anytime" ? "anytime" : "exact");
        if (needed !== rank) return `the order statistic must be ${needed}, not ${rank}`;
        if (claim.steps === null) return rank === 0 || reached < rank ? "" : "no budget is stated although the counts give one";
        return rank > 0 && reached >= rank && before < rank ? "" : `${reached} of ${samples} reach it by then and ${before} before: that is not the ${rank}-th`;
      },
      label: (claim) => `${at(claim)}below ${claim.tolerance}, share ${claim.quantile}`,
    },
    band: {
      name: "bands",
      check(claim) {
        const { samples, delta, level } = claim;
        if (samples > mostBandSamples) return null;
        if (claim.of !== "step" && claim.of !== "onward") return `'${claim.of}' is neither an iteration nor what comes after it`;
        const points = sharesIn(claim.points), ranks = new Set(bandRanks(samples));
        for (let i = 0; i < points.length; ++i) {
          const [rank, value] = points[i];
          if (!ranks.has(rank) || !Number.isFinite(value)) return `rank ${rank} is not one of a band`;
          if (i > 0 && !(points[i - 1][0] < rank && points[i - 1][1] <= value)) return `rank ${rank} is out of order`;
        }
        if (samples === 1) return near(level, delta) ? "" : `the level must be ${delta}`;
        const ratio = crossingOf(samples, level) / delta, slack = samples <= 10000 ? 1e-6 : 5e-3;
        return ratio <= 1 + 1e-6 && ratio >= 1 - slack ? "" : `at level ${level} a band fails with probability ${ratio * delta}, not ${delta}`;
      },
      label: (claim) => `${at(claim)}${claim.of}`,
    },
    group_average: {
      name: "averages of groups",
      check(claim) {
        const shares = sharesIn(claim.shares), [mean, groups] = averageOf(shares);
        if (groups !== claim.samples) return `shares of ${groups} groups, there are ${claim.samples}`;
        if (!near(Math.min(1, mean), claim.empirical)) return `the average share is ${mean}, not ${claim.empirical}`;
        return isMeanBound(shares, claim.delta, claim.method, false, claim.upper_bound) ? "" : `the shares do not give at most ${claim.upper_bound}`;
      },
      label: (claim) => `${at(claim)}below ${claim.tolerance}`,
    },
    mean_excess: {
      name: "means",
      check(claim, certificate) {
        const shares = sharesIn(claim.shares), [mean, samples] = averageOf(shares), whole = claim.range - claim.threshold;
        const declared = certificate.range;
        if (!declared || declared.upper !== claim.range || !declared.thresholds.includes(claim.threshold)) return "its range or threshold is not declared";
        if (samples !== claim.samples) return `shares of ${samples} samples, there are ${claim.samples}`;
        if (!["betting", "kl"].includes(claim.method)) return `its method '${claim.method}' is not known`;
        if (!same(Math.min(1, mean) * whole, claim.empirical)) return `the average is ${mean * whole}, not ${claim.empirical}`;
        // CVaR at level a is at most t + E(X - t)+ / (1 - a) (R. Rockafellar, S. Uryasev 2000).
        const tails = declared.cvar.map((level) => claim.threshold + claim.upper_bound / (1 - level));
        if (tails.length !== claim.cvar.length || !tails.every((tail, i) => same(tail, claim.cvar[i]))) return `its tails are ${tails}, not ${claim.cvar}`;
        const anytime = certificate.declared.grid_method === "anytime";
        return isMeanBound(shares, claim.delta, claim.method, anytime, Math.min(1, claim.upper_bound / whole)) ? "" : `the shares do not give at most ${claim.upper_bound}`;
      },
      label: (claim) => `${at(claim)}excess over ${claim.threshold}`,
    },
    sequence: {
      name: "averages over a log",
      check(claim) {
        const { failures, samples, delta } = claim;
        if (!near(failures / samples, claim.empirical)) return "the observed share does not follow from the counts";
        const bound = sequenceUpper(failures, samples, delta);
        return near(bound, claim.upper_bound) ? "" : `${failures} failures in ${samples} give at most ${bound}, not ${claim.upper_bound}`;
      },
      label: (claim) => `${at(claim)}below ${claim.tolerance}`,
    },
  };

  const knownParts = ["recorded_steps", "reading", "independence", "selection", "scalar", "anytime", "appended", "groups", "weights", "weights_not_read",
    "pac_bayes", "provenance", "run", "rerun", "worst_case", "range", "shift", "closed_loop", "kernels"];

  // What is never recomputed here, and what of this certificate is not.
  function leftOut(certificate) {
    const list = [
      "that the counts are those of the data: surefoot verify --data counts them again",
      "the sentences and assumptions, which the digest protects: surefoot verify writes them again",
    ];
    if (certificate.variants.some((v) => v.pac_bayes)) list.push("the divergence of the weights from their prior, of which the guarantee is: surefoot verify --weights computes it");
    if (certificate.worst_case) list.push("the worst case and its proof, and what it improves");
    if (certificate.closed_loop) list.push("that the rollouts are of the closed loop that is named: surefoot verify --rerun simulates it again");
    if (certificate.variants.some((v) => v.appended?.length > 0)) list.push("that the counts are those of the tables that were appended: surefoot verify --data counts them again");
    if (certificate.shift) list.push("what is stated under a shift of the distribution");
    for (const part of certificate.parts ?? [])
      if (!(part in kinds) && !knownParts.includes(part)) list.push(`part '${part}', which this page does not know`);
    return list;
  }

  // Shares of the confidence: what they add up to, and that claims take what their share gives.
  function checkConfidence(certificate, findings) {
    const { delta, shares, simultaneous } = certificate.confidence;
    if (!(delta > 0 && delta < 1)) findings.push(`delta ${delta} is outside (0, 1)`);
    const spent = shares.reduce((sum, share) => sum + share.claims * share.delta_each, 0);
    if (simultaneous === "all" && !(spent <= delta * (1 + 1e-12))) findings.push(`the shares of the confidence add up to ${spent}, more than ${delta}`);
    if (simultaneous !== "all" && simultaneous !== "each") findings.push(`'${simultaneous}' is not how claims hold`);
    if (certificate.variants.some((v) => v.pac_bayes)) return;
    for (const [part, list] of Object.entries(certificate.claims)) {
      if (list.length === 0) continue;
      const given = new Set(shares.map((share) => share.delta_each));
      if (!list.every((claim) => given.has(claim.delta) && claim.delta === list[0].delta))
        findings.push(`${kinds[part]?.name ?? part}: they take another part of the confidence than their share`);
    }
    const paid = shares.reduce((sum, share) => sum + share.claims, 0);
    const made = Object.entries(certificate.claims).reduce((sum, [part, list]) => sum + (part === "quantile" && certificate.declared.grid.length > 0
      ? new Set(list.map((claim) => `${claim.variant} ${claim.step}`)).size : list.length), 0);
    if (paid !== made) findings.push(`the confidence covers ${paid} claims, ${made} are made`);
  }

  // Counts that contradict each other: more runs are below a larger tolerance.
  function checkCounts(certificate, findings) {
    const places = new Map();
    for (const claim of certificate.claims.success_rate ?? []) {
      const key = `${claim.variant} ${claim.step}`;
      if (!places.has(key)) places.set(key, []);
      places.get(key).push(claim);
    }
    for (const claims of places.values()) {
      const place = `${certificate.variants[claims[0].variant]?.name}, iteration ${claims[0].step}`;
      claims.sort((a, b) => a.tolerance - b.tolerance);
      for (let i = 1; i < claims.length; ++i)
        if (claims[i].failures > claims[i - 1].failures) findings.push(`${place}: fewer runs are below ${claims[i].tolerance} than below ${claims[i - 1].tolerance}`);
    }
  }

  // Whether a claim is one of those that were declared, once, of all runs of its variant.
  function misplaced(claim, variant, certificate, again) {
    const { steps, tolerances, quantiles } = certificate.declared;
    if (again) return "it is made twice";
    if (!variant || (variant.pac_bayes ? variant.pac_bayes.runs : variant.samples) !== claim.samples) return "its number of samples is not that of its variant";
    if (claim.step !== undefined && !steps.includes(claim.step)) return "its iteration was not declared";
    if (claim.tolerance !== undefined && !tolerances.includes(claim.tolerance)) return "its tolerance was not declared";
    if (claim.quantile !== undefined && !quantiles.includes(claim.quantile)) return "its share was not declared";
    if (claim.delta > certificate.confidence.delta) return "it takes more than the whole confidence";
    return "";
  }

  // Recomputes a certificate from its text. `rest` is called now and then and may wait, so that a page stays alive.
  async function check(text, rest = async () => {}) {
    const result = { verdict: "wrong", claims: 0, checked: 0, failed: 0, kinds: [], findings: [], leftOut: [], digest: { recorded: "", computed: "", holds: false } };
    let certificate;
    try {
      certificate = JSON.parse(text);
      if (certificate.format !== "surefoot-certificate") throw new Error("not a certificate");
      result.digest.recorded = certificate.digest.value;
      result.digest.computed = sha256OfText(digestedText(text));
      result.digest.holds = result.digest.recorded === result.digest.computed;
      if (!result.digest.holds) result.findings.push("digest: the text has been changed since it was written");
      const learned = certificate.variants.some((variant) => variant.pac_bayes);
      checkConfidence(certificate, result.findings);
      checkCounts(certificate, result.findings);
      if (learned) checkGuarantees(certificate, result.findings);
      for (const [part, list] of Object.entries(certificate.claims)) {
        if (list.length === 0) continue;
        const kind = kinds[part], known = kind !== undefined;
        const tally = { name: kind?.name ?? `'${part}'`, claims: list.length, checked: 0, failed: 0 };
        const seen = new Set();
        for (const claim of list) {
          if (!known) break;
          await rest();
          const variant = certificate.variants[claim.variant];
          let why = kind.check(claim, certificate);
          if (why === null) continue;
          tally.checked += 1;
          const label = `${variant?.name ?? "no variant"}, ${kind.label(claim)}`, key = `${claim.variant}: ${kind.label(claim)}`;
          if (why === "") why = misplaced(claim, variant, certificate, seen.has(key));
          seen.add(key);
          if (why === "") continue;
          tally.failed += 1;
          if (result.findings.length < 200) result.findings.push(`${tally.name}: ${label}: ${why}`);
        }
        result.kinds.push(tally);
      }
      result.leftOut = leftOut(certificate);
    } catch (error) {
      result.findings.push(`this is not a certificate that can be read (${error.message})`);
    }
    for (const kind of result.kinds) {
      result.claims += kind.claims;
      result.checked += kind.checked;
      result.failed += kind.failed;
    }
    if (result.kinds.length === 0 && result.findings.length === 0) result.findings.push("nothing is claimed");
    // "holds" is said of claims that were all recomputed, "partly" where some were not, "wrong" where anything is.
    result.verdict = result.findings.length > 0 ? "wrong" : result.checked < result.claims ? "partly" : "holds";
    return result;
  }

  return { check, sha256, sha256OfText, digestedText, riskUpper, successLower, rankOf, observedRank, sequenceUpper, crossing, isMeanBound, sharesIn };
})();
