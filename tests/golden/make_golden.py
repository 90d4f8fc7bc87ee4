"""Recomputes the reference values beside this file from their inputs, by bisection of the definitions.

    python3 tests/golden/make_golden.py          compare what is there with a recomputation
    python3 tests/golden/make_golden.py --write  write the recomputed values

Needs mpmath. Inputs are read as doubles, as the program reads them.
"""
import csv
import pathlib
import sys

from mpmath import mp, mpf, log

mp.dps = 60
HERE = pathlib.Path(__file__).parent


def bisect(low, high, is_below):
    for _ in range(400):
        middle = (low + high) / 2
        if is_below(middle):
            low = middle
        else:
            high = middle
    return low


def kl(q, p):
    term = lambda a, b: mpf(0) if a == 0 else (mp.inf if b == 0 else a * log(a / b))
    return term(q, p) + term(1 - q, 1 - p)


def kl_inverse(q, c):
    q, c = mpf(q), mpf(c)
    return bisect(q, mpf(1), lambda p: kl(q, p) <= c)


def binomial_cdf(k, n, p):
    if p == 1:
        return mpf(1) if k >= n else mpf(0)
    total = term = (1 - p) ** n
    for i in range(k):
        term *= p * (n - i) / ((1 - p) * (i + 1))
        total += term
    return total


def clopper_pearson(failures, samples, delta):
    if failures == samples:
        return mpf(1)
    return bisect(mpf(0), mpf(1), lambda p: binomial_cdf(failures, samples, p) > mpf(delta))


def order_statistic(samples, quantile, delta):
    quantile, target = mpf(quantile), 1 - mpf(delta)
    total = term = (1 - quantile) ** samples
    for rank in range(1, samples + 1):
        if total >= target:
            return rank
        term *= quantile * (samples - rank + 1) / ((1 - quantile) * rank)
        total += term
    return 0


def beta_quantile(rank, samples, level):
    """The b with P(Bin(samples, b) >= rank) = level."""
    return bisect(mpf(0), mpf(1), lambda b: 1 - binomial_cdf(rank - 1, samples, b) <= level)


def crossing(samples, level):
    """P(some i: U_(i) < b_i) with b_i the quantile of level `level` of U_(i), by Bolshev's recursion for 1 - U."""
    b = [beta_quantile(rank, samples, level) for rank in range(1, samples + 1)]
    stays = []
    for k in range(samples + 1):
        crosses, choose = mpf(0), mpf(1)
        for j in range(k):
            crosses += choose * stays[j] * b[samples - 1 - j] ** (k - j)
            choose = choose * (k - j) / (j + 1)
        stays.append(1 - crosses)
    return crosses


def is_band_level(samples, delta, level):
    """Whether the level, of 17 digits, is the largest one. Slow: not tried for more than 30 samples."""
    off = mpf("1e-16")
    return samples > 30 or samples == 1 or crossing(samples, level * (1 - off)) <= delta < crossing(samples, level * (1 + off))


def anytime_mixture(failures, samples, p):
    phi = mp.asin(mp.sqrt(p))
    integral = mp.betainc(failures + mpf(1) / 2, samples - failures + mpf(1) / 2, 0, p)
    return integral / (2 * phi * p**failures * (1 - p) ** (samples - failures))


def is_anytime_upper(failures, samples, delta, upper):
    """Whether the bound, of 16 digits, is the root."""
    off = mpf("1e-15")
    below, above = (anytime_mixture(failures, samples, p) for p in (upper - off * upper, min(upper + off * upper, (upper + 1) / 2)))
    return below < 1 / delta < above


CHECKS = {
    "band_level.csv": lambda row: is_band_level(int(row[0]), mpf(float(row[1])), mpf(row[2])),
    "anytime.csv": lambda row: is_anytime_upper(int(row[0]), int(row[1]), mpf(float(row[2])), mpf(row[3])),
}


FILES = {
    "kl_inverse.csv": lambda row: kl_inverse(float(row[0]), float(row[1])),
    "clopper_pearson.csv": lambda row: clopper_pearson(int(row[0]), int(row[1]), float(row[2])),
    "order_statistic.csv": lambda row: order_statistic(int(row[0]), float(row[1]), float(row[2])),
}


def main():
    worst = mpf(0)
    for name, compute in FILES.items():
        with open(HERE / name, newline="") as file:
            header, *rows = csv.reader(file)
        for row in rows:
            value = compute(row)
            worst = max(worst, abs(value - mpf(row[-1])) / max(abs(value), mpf("1e-30")))
            row[-1] = str(value) if isinstance(value, int) else mp.nstr(value, 25)
        if "--write" in sys.argv:
            with open(HERE / name, "w", newline="") as file:
                csv.writer(file, lineterminator="\n").writerows([header, *rows])
        print(f"{name}: {len(rows)} values")
    for name, holds in CHECKS.items():
        with open(HERE / name, newline="") as file:
            _, *rows = csv.reader(file)
        wrong = [row for row in rows if not holds(row)]
        print(f"{name}: {len(rows)} values, {len(wrong)} wrong {wrong}")
        worst = max(worst, mpf(len(wrong)))
    print(f"largest relative difference {mp.nstr(worst, 3)}")
    return 0 if worst < mpf("1e-22") else 1


if __name__ == "__main__":
    sys.exit(main())
