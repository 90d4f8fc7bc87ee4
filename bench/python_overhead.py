#!/usr/bin/env python3
"""What a call from Python costs: microseconds per call on small inputs, the best of several repetitions.

    build/venv-python/bin/python bench/python_overhead.py
"""

import timeit

import numpy as np
import surefoot

FIVE = np.linspace(0.01, 0.5, 5)
COUNTS = np.arange(5)
POSTERIOR = surefoot.pac_bayes.Posterior({"w": np.zeros(10)}, {"w": -1.0}, {"w": -1.0})
SMALL = np.random.default_rng(0).uniform(size=(20, 5))
OPTIONS = surefoot._core.resolved(surefoot.certification.claim_options(), [[1, 2, 3, 4, 5]])

CALLS = {
    "bounds.kl_inverse, numbers": lambda: surefoot.bounds.kl_inverse(0.1, 0.01),
    "bounds.kl_inverse, 5 numbers": lambda: surefoot.bounds.kl_inverse(FIVE, 0.01),
    "bounds.kl_inverse_with_derivatives": lambda: surefoot.bounds.kl_inverse_with_derivatives(0.1, 0.01),
    "bounds.empirical_rank, numbers": lambda: surefoot.bounds.empirical_rank(1000, 0.9),
    "bounds.risk_upper_bound (kl), 5": lambda: surefoot.bounds.risk_upper_bound(COUNTS, 1000, 1e-4, "kl"),
    "pac_bayes.regularizer_with_gradient, 5": lambda: surefoot.pac_bayes.regularizer_with_gradient(
        FIVE, FIVE, FIVE, [-1.0], samples=100, delta=0.01
    ),
    "Posterior.sample, 10 weights": lambda: POSTERIOR.sample(1),
    "count 20 x 5 traces": lambda: surefoot._core.count(SMALL, OPTIONS, [1, 2, 3, 4, 5]),
}


def microseconds(call):
    timer = timeit.Timer(call)
    number, _ = timer.autorange()
    return 1e6 * min(timer.repeat(5, number)) / number


def main():
    for name, call in CALLS.items():
        print(f"{name:<42} {microseconds(call):8.2f} us")
    print(f"{'certify 20 x 5 traces, whole':<42} {microseconds(lambda: surefoot.certify(SMALL)):8.2f} us")


if __name__ == "__main__":
    main()
