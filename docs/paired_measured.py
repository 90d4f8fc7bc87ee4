"""How many problems decide which of two optimizers is better: the table of docs/howto_compare.md.

  python docs/paired_measured.py examples/traces/osqp_mpc_cold.csv.gz examples/traces/osqp_mpc_warm.csv.gz

Problems are shuffled 200 times; the number is the first at which the question is decided, the median over the shuffles. Total delta
0.01, both directions. Paired: the exact sign test of the problems on which they disagree. Unpaired: two exact (Clopper-Pearson) intervals that
do not meet. Where all problems of the tables are not enough for that, problems are drawn from the tables with replacement, as many as it
takes, and the number is marked with *.
"""

import sys

import numpy as np
from surefoot import bounds

CLAIMS = [(1e-1, 15), (1e-2, 30), (1e-2, 60), (1e-3, 50), (1e-3, 100), (1e-4, 100)]
DELTA = 0.01


def first(decided):
    """The number of problems at which it is decided first; infinity if never."""
    return int(np.argmax(decided)) + 1 if decided.any() else np.inf


def paired(a, b):
    more, less = np.cumsum(b & ~a), np.cumsum(a & ~b)
    return first(np.minimum(TAIL[more, less], TAIL[less, more]) <= DELTA / 2)


def unpaired(a, b):
    n = np.arange(1, len(a) + 1)
    a, b = np.cumsum(a), np.cumsum(b)
    return first((LOWER[n, b] > UPPER[n, a]) | (LOWER[n, a] > UPPER[n, b]))


def medians(a, b):
    random = np.random.default_rng(1)
    orders = [random.permutation(len(a)) for _ in range(200)]
    return [np.median([count(a[order], b[order]) for order in orders]) for count in (paired, unpaired)]


def unpaired_with_replacement(a, b, most=20_000):
    """The same median, to one part in a hundred, of problems that are drawn anew."""
    random = np.random.default_rng(2)
    n = np.unique(np.geomspace(N / 2, most, 400).astype(int))
    numbers = []
    for _ in range(200):
        drawn = random.integers(N, size=most)
        of_a, of_b = (np.cumsum(side[drawn])[n - 1] for side in (a, b))
        upper_a, upper_b = (bounds.clopper_pearson_upper(k, n, DELTA / 4) for k in (of_a, of_b))
        lower_a, lower_b = (1 - bounds.clopper_pearson_upper(n - k, n, DELTA / 4) for k in (of_a, of_b))
        decided = (lower_b > upper_a) | (lower_a > upper_b)
        numbers.append(n[np.argmax(decided)] if decided.any() else np.inf)
    return np.median(numbers)


tables = [np.loadtxt(path, delimiter=",", skiprows=1) for path in sys.argv[1:3]]
N = len(tables[0])
i, j = np.meshgrid(np.arange(1, N + 1), np.arange(N + 1), indexing="ij")
inside = i + j <= N
TAIL = np.ones((N + 1, N + 1))
TAIL[i[inside], j[inside]] = bounds.binomial_tail_upper(i[inside], (i + j)[inside], 0.5)
n, k = np.meshgrid(np.arange(1, N + 1), np.arange(N + 1), indexing="ij")
inside = k <= n
UPPER, LOWER = np.ones((N + 1, N + 1)), np.zeros((N + 1, N + 1))
UPPER[n[inside], k[inside]] = bounds.clopper_pearson_upper(k[inside], n[inside], DELTA / 4)
LOWER[n[inside], k[inside]] = 1 - UPPER[n[inside], (n - k)[inside]]
print("| below | after | first only | second only | paired | unpaired |\n|---|---|---|---|---|---|")
for tolerance, step in CLAIMS:
    a, b = (table[:, step - 1] < tolerance for table in tables)
    with_pairs, without = medians(a, b)
    shown = f"{without:.0f}" if np.isfinite(without) else f"{unpaired_with_replacement(a, b):.0f}*"
    print(f"| {tolerance:g} | {step} | {(a & ~b).sum()} | {(b & ~a).sum()} | {with_pairs:.0f} | {shown} |")
