"""Is a warm start worth it? Two variants on the same problems, certified within one confidence.

    pip install '.[sparse]' && python examples/python/warm_against_cold.py

Cold starts at zero; warm starts at the solution for the nearest of 500 states that are none of the samples: a start may not
be made from the samples that are counted, or their runs are not independent.
"""

import argparse

import numpy as np
import surefoot
from certify_osqp_mpc import read_family


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--instances", type=int, default=500, choices=range(1, 501), metavar="N")
    parser.add_argument("--iterations", type=int, default=150)
    options = parser.parse_args()

    family = read_family(options.instances)
    base = read_family(500, first=500)
    states, base_states = (np.array([part.row("l", i)[:2] for i in range(len(part))]) for part in (family, base))
    nearest = np.linalg.norm(states[:, None] - base_states, axis=2).argmin(axis=1)
    start = base.solve()[nearest]

    certificate = surefoot.certify(
        {
            "cold": family.traces(options.iterations, metric="distance"),
            "warm": family.traces(options.iterations, metric="distance", start=start),
        },
        tolerances=[1e-3, 1e-2],
        quantiles=[0.5, 0.9],
    )
    print(f"{'below':>8} {'share':>6} {'cold':>6} {'warm':>6}   iterations up to {options.iterations}, with "
          f"confidence {surefoot.number_text.confidence(certificate.delta)}")
    for tolerance in (1e-3, 1e-2):
        for quantile in (0.5, 0.9):
            cold, warm = (certificate.budget(tolerance, quantile, variant).steps for variant in ("cold", "warm"))
            print(f"{surefoot.number_text.exactly(tolerance):>8} {quantile:>6.0%} {cold!s:>6} {warm!s:>6}")
    print("verified" if certificate.verify() else "NOT VERIFIED")


if __name__ == "__main__":
    main()
