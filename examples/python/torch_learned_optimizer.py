"""A learned optimizer of your own in PyTorch, with a guarantee from its own training samples.

    pip install '.[torch]' && python examples/python/torch_learned_optimizer.py

Ten step sizes of gradient descent on random quadratics are learned by minimising the PAC-Bayes bound itself: step sizes are
drawn from N(w, diag s), the bound pays for what (w, s) learned from the samples, and `calibrate` turns failures of drawn
step sizes into a certificate. Compare with the best constant step size, 2 / (1 + L).
"""

import argparse
import math

import numpy as np
import surefoot
import surefoot.torch
import torch

STEPS, SIZE, LARGEST = 10, 8, 10.0
TOLERANCE = 1e-2
PRIOR_RATE = 2 / (1 + LARGEST)  # known before any sample is seen


def draw_problems(count, seed):
    """Diagonals of P in [1, L], and starts of norm 1; the solution is 0."""
    random = np.random.default_rng(seed)
    curvature = random.uniform(1.0, LARGEST, (count, SIZE))
    start = random.normal(size=(count, SIZE))
    return torch.tensor(curvature), torch.tensor(start / np.linalg.norm(start, axis=1, keepdims=True))


def distances(rates, curvature, z):
    """||z^k|| for k = 1 .. K; rates: one per step, for all problems or for each."""
    norms = []
    for k in range(STEPS):
        z = z - rates[..., k, None] * curvature * z
        norms.append(z.norm(dim=-1))
    return torch.stack(norms, dim=-1)


def train(curvature, start, rounds):
    samples = len(curvature)
    prior_mean = torch.full((STEPS,), PRIOR_RATE, dtype=torch.float64)
    mean = prior_mean.clone().requires_grad_()
    log_variance = torch.full((STEPS,), -10.0, dtype=torch.float64, requires_grad=True)
    prior_log_variance = torch.tensor([-6.0], dtype=torch.float64, requires_grad=True)
    adam = torch.optim.Adam([mean, log_variance, prior_log_variance], lr=3e-3)
    noise = torch.Generator().manual_seed(7)
    for step in range(rounds):
        # New step sizes for every problem; failure at the tolerance softened, so that it has a derivative.
        drawn = torch.randn(samples, STEPS, generator=noise, dtype=torch.float64)
        rates = mean + (0.5 * log_variance).exp() * drawn
        last = distances(rates, curvature, start)[:, -1]
        risk = torch.sigmoid((last.log() - math.log(TOLERANCE)) / 0.3).mean()
        regularizer = surefoot.torch.regularizer(
            mean, log_variance, prior_mean, prior_log_variance, samples=samples, delta=1e-5
        )
        bound = surefoot.torch.kl_inverse(risk, regularizer)
        adam.zero_grad()
        bound.backward()
        adam.step()
        if step % max(1, rounds // 5) == 0:
            print(f"round {step:4d}: bound {bound.item():.4f}, risk {risk.item():.4f}, B {regularizer.item():.4f}")
    return surefoot.pac_bayes.Posterior(
        {"rates": mean.detach().numpy()},
        {"rates": log_variance.detach().numpy()},
        {"rates": prior_log_variance.item()},
        {"rates": prior_mean.numpy()},
    ).rounded()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--samples", type=int, default=5000)
    parser.add_argument("--rounds", type=int, default=300)
    options = parser.parse_args()

    curvature, start = draw_problems(options.samples, seed=1)
    posterior = train(curvature, start, options.rounds)

    def run(weights, indices):
        rates = torch.tensor(np.stack([drawn["rates"] for drawn in weights]))
        return distances(rates, curvature[indices], start[indices]).numpy()

    certificate = surefoot.calibrate(
        posterior, run, samples=options.samples, batch=1000, metric="distance", name="learned rates",
        tolerances=[TOLERANCE], quantiles=[0.5, 0.9], claims=["success"], steps=[STEPS],
    )  # fmt: skip
    print("learned:", *certificate.statements)

    problems = draw_problems(options.samples, seed=2)
    constant = distances(torch.full((STEPS,), PRIOR_RATE, dtype=torch.float64), *problems).numpy()
    plain = surefoot.certify(constant, tolerances=[TOLERANCE], claims=["success"], steps=[STEPS])
    print("constant step:", *plain.statements)
    print("verified" if certificate.verify() else "NOT VERIFIED")


if __name__ == "__main__":
    main()
