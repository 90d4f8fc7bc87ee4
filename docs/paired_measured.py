"""How many problems decide which of two optimizers is better: the table of docs/howto_compare.md.

  python docs/paired_measured.py examples/traces/osqp_mpc_cold.csv.gz examples/traces/osqp_mpc_warm.csv.gz

Problems are shuffled 200 times; the number is the first at which the question is decided, the median over the shuffles. Total delta
0.01, both directions.

  paired     the exact sign test (McNemar) of the problems on which they disagree, delta/2 for each direction
  program    the same at delta/4: a program that is asked for one --claim also bounds the difference from both sides
  Fisher     Fisher's exact test of two samples that have nothing to do with each other, delta/2 for each direction
  intervals  two exact (Clopper-Pearson) intervals that do not meet, as two certificates have them, delta/4 for each end

Where all problems of the tables are not enough, problems are drawn from the tables with replacement, as many as it takes, and the
number is marked with *. --shuffles 5 is a quick look.
"""

import argparse

import numpy as np
from surefoot import bounds

CLAIMS = [(1e-1, 15), (1e-2, 30), (1e-2, 60), (1e-3, 50), (1e-3, 100), (1e-4, 100)]
DELTA = 0.01
MOST = 20_000  # problems that are drawn with replacement
LOG_FACTORIAL = np.concatenate([[0.0], np.cumsum(np.log(np.arange(1, 2 * MOST + 1)))])


def log_choose(n, k):
    inside = (k >= 0) & (k <= n)
    k = np.where(inside, k, 0)
    return np.where(inside, LOG_FACTORIAL[n] - LOG_FACTORIAL[k] - LOG_FACTORIAL[n - k], -np.inf)


def fisher_tail(n, a, b, terms=300):
    """P(B >= b) given that a + b of 2n succeed, for b > a: hypergeometric. Its terms fall so fast that the first ones are all."""
    n, a, b = (np.asarray(part)[:, None] for part in (n, a, b))
    j = np.arange(terms)
    return np.exp(log_choose(n, b + j) + log_choose(n, a - j) - log_choose(2 * n, a + b)).sum(axis=1)


def fisher_decides(n, a, b, delta):
    """Whether the test decides, at each n, which of a and b successes of n are the better ones."""
    few, many = np.minimum(a, b), np.maximum(a, b)
    decided = np.zeros(len(n), dtype=bool)
    differ = many - few > 2  # one-sided p of smaller differences is never below 1/8
    decided[differ] = fisher_tail(n[differ], few[differ], many[differ]) <= delta / 2
    return decided


def sign_test_decides(n, a_only, b_only, delta):
    """The same of problems on which only one succeeds."""
    both = a_only + b_only
    most = np.maximum(a_only, b_only)
    decided = np.zeros(len(n), dtype=bool)
    some = both > 0
    decided[some] = bounds.binomial_tail_upper(most[some], both[some], 0.5) <= delta / 2
    return decided


def intervals_decide(n, a, b, delta):
    each = delta / 4
    upper_a, upper_b = (bounds.clopper_pearson_upper(k, n, each) for k in (a, b))
    lower_a, lower_b = (1 - bounds.clopper_pearson_upper(n - k, n, each) for k in (a, b))
    return (lower_b > upper_a) | (lower_a > upper_b)


def first(decided, n):
    return n[np.argmax(decided)] if decided.any() else np.inf


def counts(a, b, order, n):
    """Of the first n problems in this order: successes of both, and those of one alone."""
    a, b = a[order], b[order]
    return [np.cumsum(each)[n - 1] for each in (a, b, a & ~b, b & ~a)]


def medians(a, b, orders, n):
    """Of each test the median number of problems that it needs."""
    numbers = {"paired": [], "program": [], "Fisher": [], "intervals": []}
    for order in orders:
        of_a, of_b, a_only, b_only = counts(a, b, order, n)
        numbers["paired"].append(first(sign_test_decides(n, a_only, b_only, DELTA), n))
        numbers["program"].append(first(sign_test_decides(n, a_only, b_only, DELTA / 2), n))
        numbers["Fisher"].append(first(fisher_decides(n, of_a, of_b, DELTA), n))
        numbers["intervals"].append(first(intervals_decide(n, of_a, of_b, DELTA), n))
    return {test: np.median(each) for test, each in numbers.items()}


def measured(tables, claims=CLAIMS, shuffles=200):
    """Rows (tolerance, step, first only, second only, {test: (median, whether drawn with replacement)})."""
    problems = len(tables[0])
    shuffled = np.random.default_rng(1)
    orders = [shuffled.permutation(problems) for _ in range(shuffles)]
    drawn = np.random.default_rng(2)
    samples = [drawn.integers(problems, size=MOST) for _ in range(shuffles)]
    for tolerance, step in claims:
        a, b = (table[:, step - 1] < tolerance for table in tables)
        found = {test: (n, False) for test, n in medians(a, b, orders, np.arange(1, problems + 1)).items()}
        if not all(np.isfinite(n) for n, _ in found.values()):
            anew = medians(a, b, samples, np.unique(np.geomspace(problems / 2, MOST, 400).astype(int)))
            found = {test: (n, again) if np.isfinite(n) else (anew[test], True) for test, (n, again) in found.items()}
        yield tolerance, step, int((a & ~b).sum()), int((b & ~a).sum()), found


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("tables", nargs=2)
    parser.add_argument("--shuffles", type=int, default=200)
    parser.add_argument("--claims", type=int, default=len(CLAIMS), help="of the list, the first so many")
    given = parser.parse_args()
    tables = [np.loadtxt(path, delimiter=",", skiprows=1) for path in given.tables]
    tests = ("paired", "program", "Fisher", "intervals")
    print("| below | after | first only | second only | " + " | ".join(tests) + " |")
    print("|---" * (4 + len(tests)) + "|")
    for tolerance, step, first_only, second_only, found in measured(tables, CLAIMS[: given.claims], given.shuffles):
        shown = [f"{found[test][0]:,.0f}" + "*" * found[test][1] for test in tests]
        print(f"| {tolerance:g} | {step} | {first_only} | {second_only} | " + " | ".join(shown) + " |", flush=True)


if __name__ == "__main__":
    main()
