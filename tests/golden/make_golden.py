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
    print(f"largest relative difference {mp.nstr(worst, 3)}")
    return 0 if worst < mpf("1e-22") else 1


if __name__ == "__main__":
    sys.exit(main())
