"""What both baselines share: their options, the failure counts, kl inverses by a convex solver, and the report.

A baseline does the mathematics of the paper the way its public code does it: one dense LU factorisation, a step for one
instance that `vmap` spreads over all of them, `fori_loop` over steps, every iterate kept, and one convex program per
kl inverse. It is what our own times are divided by, so it is written to be fair: float64, compiled before the
clock starts, both cores, and no work that the bounds do not need.
"""

import argparse
import json
import os
import time

import cvxpy
import jax

jax.config.update("jax_enable_x64", True)

import jax.numpy as jnp
import numpy as np

TOLERANCES = np.logspace(-6, 2, 81)
DELTA = 1e-4


def options_parser(description):
    parser = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--instances", type=int, default=1000, metavar="N")
    parser.add_argument("--steps", type=int, default=500, metavar="K")
    parser.add_argument("--block", type=int, metavar="B",
                        help="instances at a time, at most N; the iterates of a block are all in memory (default: N)")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--kl-samples", type=int, default=40, metavar="COUNT",
                        help="cells whose kl inverse is really computed; their mean time stands for the others'")
    return parser


class KlInverse:
    """sup { p : kl(q||p) <= c } as a convex program, compiled once and solved for each (q, c)."""

    def __init__(self):
        self.q = cvxpy.Parameter(nonneg=True)
        self.c = cvxpy.Parameter(nonneg=True)
        self.p = cvxpy.Variable()
        divergence = cvxpy.kl_div(self.q, self.p) + cvxpy.kl_div(1 - self.q, 1 - self.p)
        self.problem = cvxpy.Problem(cvxpy.Maximize(self.p), [divergence <= self.c, self.p <= 1, self.p >= self.q])

    def __call__(self, q, c):
        if q >= 1:
            return 1.0
        self.q.value, self.c.value = q, c
        self.problem.solve(solver=cvxpy.CLARABEL)
        return float(self.p.value)


def exact_kl_inverse(q, c):
    """By bisection, to check the convex program."""
    low, high = q, 1.0
    for _ in range(200):
        p = (low + high) / 2
        if p == 1:
            return 1.0
        kl = (q * np.log(q / p) if q > 0 else 0.0) + (1 - q) * np.log((1 - q) / (1 - p))
        low, high = (p, high) if kl <= c else (low, p)
    return low


@jax.jit
def failure_rates(residuals):
    """Share of the instances at or above each tolerance: (instances, steps) to (tolerances, steps)."""
    return jax.lax.map(lambda tolerance: (~(residuals < tolerance)).mean(axis=0), jnp.asarray(TOLERANCES))


def time_kl_inverses(rates, instances, count, seed):
    """Seconds per kl inverse on sampled cells, the cells whose rate is 1 (no program needed) left out."""
    c = np.log(2 / DELTA) / instances
    cells = rates[rates < 1]
    if count == 0 or cells.size == 0:
        return 0.0, int(cells.size)
    sampled = np.random.default_rng([seed, 1]).choice(cells, count)
    inverse = KlInverse()
    inverse(0.5, c)
    start = time.perf_counter()
    values = [inverse(q, c) for q in sampled]
    seconds = (time.perf_counter() - start) / count
    worst = max(abs(value - exact_kl_inverse(q, c)) for value, q in zip(values, sampled))
    if worst > 1e-4:
        raise RuntimeError(f"the convex program misses the kl inverse by {worst:.1e}")
    return seconds, int(cells.size)


def measure(name, options, factorise, run_block, parameters):
    """Time factorise() -> factor and run_block(factor, block of parameters) -> (iterates, residuals); print JSON."""
    block = min(options.block or options.instances, options.instances)
    if options.instances % block:
        raise SystemExit(f"--block {block} does not divide --instances {options.instances}")
    jax.block_until_ready(factorise())
    start = time.perf_counter()
    factor = jax.block_until_ready(factorise())
    factorisation = time.perf_counter() - start

    compiled = jax.jit(run_block).lower(factor, parameters[:block]).compile()
    load_before = os.getloadavg()[0]
    start, cpu_start = time.perf_counter(), time.process_time()
    residuals, iterate_bytes = [], 0
    for first in range(0, options.instances, block):
        iterates, block_residuals = jax.block_until_ready(compiled(factor, parameters[first:first + block]))
        iterate_bytes = iterates.nbytes
        del iterates
        residuals.append(block_residuals)
    residuals = jnp.concatenate(residuals)
    iterations, cpu = time.perf_counter() - start, time.process_time() - cpu_start

    jax.block_until_ready(failure_rates(residuals))
    start = time.perf_counter()
    rates = np.asarray(failure_rates(residuals))
    counting = time.perf_counter() - start
    each, cells = time_kl_inverses(rates, options.instances, options.kl_samples, options.seed)

    first_below = [int(np.argmax(row)) + 1 if row.any() else None
                   for row in (np.median(np.asarray(residuals), axis=0) < tolerance for tolerance in (1e-2, 1e-3, 1e-4))]
    print(json.dumps({
        "baseline": name, "instances": options.instances, "steps": options.steps, "block": block,
        "device": jax.devices()[0].device_kind, "cores": len(os.sched_getaffinity(0)), "load_before": load_before,
        "seconds": {"factorisation": factorisation, "iterations": iterations, "iterations_cpu": cpu, "counting": counting,
                    "one_kl_inverse": each, "all_kl_inverses_estimated": each * cells,
                    "total_estimated": factorisation + iterations + counting + each * cells},
        "kl_inverses": cells, "iterate_gigabytes_per_block": iterate_bytes / 1e9,
        "median_below_1e-2_1e-3_1e-4_at_step": first_below,
    }, indent=2))
