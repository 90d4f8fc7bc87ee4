#!/usr/bin/env python3
"""What a call from Python costs: microseconds of processor time per call on small inputs, the best of many short repetitions.

    build/venv-python/bin/python bench/python_overhead.py

Overhead of `certify` is what the whole call takes beyond the two calls that count and bound.
"""

import time
import timeit

import numpy as np
import surefoot

FIVE = np.linspace(0.01, 0.5, 5)
COUNTS = np.arange(5)
POSTERIOR = surefoot.pac_bayes.Posterior({"w": np.zeros(10)}, {"w": -1.0}, {"w": -1.0}).rounded()
SMALL = np.random.default_rng(0).uniform(size=(20, 5))
STEPS = [1, 2, 3, 4, 5]
OPTIONS = surefoot._core.resolved(surefoot.certification.claim_options(), [STEPS])
CERTIFICATE = surefoot.certify(SMALL)
TEXT = CERTIFICATE.to_json()


def counted():
    return [("traces", "array", "", surefoot._core.count(SMALL, OPTIONS, STEPS))]


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
    "certificate: reading its text": lambda: surefoot.Certificate(TEXT),
    "certificate: verify": CERTIFICATE.verify,
}


def microseconds(call):
    timer = timeit.Timer(call, timer=time.process_time)
    number = max(1, round(0.002 / timer.timeit(10) * 10))
    return 1e6 * min(timer.repeat(100, number)) / number


def show(name, time):
    print(f"{name:<50} {time:8.2f} us", flush=True)


def main():
    for name, call in CALLS.items():
        show(name, microseconds(call))
    whole = microseconds(lambda: surefoot.certify(SMALL))
    work = microseconds(lambda: surefoot._core.certify(OPTIONS, counted(), "null"))
    show("certify, 20 x 5 traces, 47 claims", whole)
    show("  of it counting and bounding", work)
    show("  overhead", whole - work)
    written = microseconds(lambda: surefoot._core.certify(OPTIONS, counted(), "null").text)
    show(f"writing the certificate, {len(TEXT)} bytes, and digest", written - work)


if __name__ == "__main__":
    main()
