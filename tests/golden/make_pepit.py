"""Worst cases of PEPit's own worked examples, as its solver finds them: tests/golden/pepit.csv.

Needs `pip install pepit clarabel`. The values are squared norms or gaps, not rigorous: clarabel's may lie on either side of
the truth by about 1e-4 relative. `python3 tests/golden/make_pepit.py` writes the table again.
"""

import importlib
import math
import pathlib

EXAMPLES = {
    "gradient_descent": ("unconstrained_convex_minimization", "wc_gradient_descent", {"L": 3, "gamma": 1 / 3, "n": 4}),
    "gradient_descent_contraction": (
        "tutorials", "wc_gradient_descent_contraction", {"L": 1, "mu": 0.1, "gamma": 1, "n": 3}),
    "accelerated_gradient_convex": (
        "unconstrained_convex_minimization", "wc_accelerated_gradient_convex", {"mu": 0, "L": 1, "n": 5}),
    "heavy_ball_momentum": (
        "unconstrained_convex_minimization", "wc_heavy_ball_momentum",
        {"mu": 0.1, "L": 1.0, "alpha": 0.5, "beta": math.sqrt((1 - 0.5 * 0.1) * 0.5), "n": 2}),
    "optimized_gradient": ("unconstrained_convex_minimization", "wc_optimized_gradient", {"L": 3, "n": 4}),
    "optimized_gradient_for_gradient": (
        "unconstrained_convex_minimization", "wc_optimized_gradient_for_gradient", {"L": 3, "n": 4}),
    "proximal_point": ("unconstrained_convex_minimization", "wc_proximal_point", {"gamma": 3, "n": 4}),
    "triple_momentum": ("unconstrained_convex_minimization", "wc_triple_momentum", {"mu": 0.1, "L": 1.0, "n": 4}),
    "information_theoretic_exact_method": (
        "unconstrained_convex_minimization", "wc_information_theoretic", {"mu": 0.001, "L": 1, "n": 10}),
    "halpern_iteration": ("fixed_point_problems", "wc_halpern_iteration", {"n": 10}),
    "krasnoselskii_mann_constant_step_sizes": (
        "fixed_point_problems", "wc_krasnoselskii_mann_constant_step_sizes", {"n": 3, "gamma": 0.75}),
    "krasnoselskii_mann_increasing_step_sizes": (
        "fixed_point_problems", "wc_krasnoselskii_mann_increasing_step_sizes", {"n": 3}),
    "optimal_contractive_halpern_iteration": (
        "fixed_point_problems", "wc_optimal_contractive_halpern_iteration", {"n": 10, "gamma": 1.1}),
    "monotone_proximal_point": (
        "monotone_inclusions_variational_inequalities.proximal_point", "wc_proximal_point", {"alpha": 2, "n": 10}),
    "monotone_accelerated_proximal_point": (
        "monotone_inclusions_variational_inequalities.accelerated_proximal_point", "wc_accelerated_proximal_point",
        {"alpha": 2, "n": 10}),
    "proximal_gradient": (
        "composite_convex_minimization", "wc_proximal_gradient", {"L": 1, "mu": 0.1, "gamma": 1, "n": 2}),
    "accelerated_proximal_gradient": (
        "composite_convex_minimization", "wc_accelerated_proximal_gradient", {"L": 1, "mu": 0, "n": 4}),
    "accelerated_proximal_gradient_simplified": (
        "composite_convex_minimization", "wc_accelerated_proximal_gradient_simplified", {"L": 1, "mu": 0, "n": 4}),
}


def main():
    lines = ["example,value"]
    for name, (module, function, arguments) in EXAMPLES.items():
        place = importlib.import_module(f"PEPit.examples.{module}")
        value, _ = getattr(place, function)(**arguments, wrapper="cvxpy", solver="CLARABEL", verbose=0)
        lines.append(f"{name},{value!r}")
    pathlib.Path(__file__).with_name("pepit.csv").write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
