#!/usr/bin/env python3
"""Baseline: a training epoch of ALISTA or LISTA on sparse coding in JAX, float32, dense.

    python3 -m venv .venv && .venv/bin/pip install -r requirements.txt
    .venv/bin/python sparse_coding_jax.py --model alista --samples 50000

prints seconds per epoch as JSON. b = D z* + noise with D 256 x 512 of unit columns, a tenth of z* nonzero; K = 10 layers:

    ALISTA   z+ = soft(z - gamma_k W'(D z - b), psi_k),      weights gamma, psi
    LISTA    z+ = soft(W1_k z + W2_k b, psi_k),              weights W1_k (512 x 512), W2_k (512 x 256), psi_k

A step draws one theta = w + exp(zeta/2) xi for the batch of 100, takes the gradient of kl_inv(sigma(c mean ||z^K - z*||^2), B) + mu (B -
B_target)^2 by (w, zeta, nu) in reverse mode, the derivatives of kl_inv in their implicit form, and an Adam update, all in one compiled
function, over an epoch in one compiled loop. --plain leaves out draws, B and Adam: forward and reverse sweep alone.
"""

import argparse
import json
import os
import time

import jax
import jax.numpy as jnp
import numpy as np

M, N, K = 256, 512, 10
BATCH = 100


def sample(count, seed):
    random = np.random.default_rng([seed, 0])
    D = random.standard_normal((M, N))
    D /= np.linalg.norm(D, axis=0)
    z = random.standard_normal((count, N)) * (random.random((count, N)) < 0.1)
    b = z @ D.T + 0.01 * z.std(axis=1, keepdims=True) * random.standard_normal((count, M))
    return D, z.astype(np.float32), b.astype(np.float32)


def analytic_weights(D):
    W = np.linalg.solve(D @ D.T, D)
    return W / (D * W).sum(axis=0)


def soft(x, threshold):
    return jnp.sign(x) * jnp.maximum(jnp.abs(x) - threshold, 0)


def network(model, D):
    """Initial weights and run(weights, b) -> z^K for one sample."""
    thresholds = jnp.maximum(0.06, 0.5 * 0.75 ** jnp.arange(K))
    if model == "alista":
        W, D = jnp.asarray(analytic_weights(D), jnp.float32), jnp.asarray(D, jnp.float32)

        def run(weights, b):
            z = jnp.zeros(N)
            for k in range(K):
                z = soft(z - weights["step"][k] * (W.T @ (D @ z - b)), weights["threshold"][k])
            return z

        return {"step": jnp.ones(K), "threshold": thresholds}, run
    L = np.linalg.eigvalsh(D @ D.T)[-1]
    W1, W2 = np.eye(N) - D.T @ D / L, D.T / L

    def run(weights, b):
        z = soft(weights["W2"][0] @ b, weights["threshold"][0])
        for k in range(1, K):
            z = soft(weights["W1"][k - 1] @ z + weights["W2"][k] @ b, weights["threshold"][k])
        return z

    return {"W1": jnp.asarray(np.stack([W1] * (K - 1)), jnp.float32),
            "W2": jnp.asarray(np.stack([W2] * K), jnp.float32), "threshold": thresholds}, run


def kl(q, p):
    return q * jnp.log(q / p) + (1 - q) * jnp.log((1 - q) / (1 - p))


@jax.custom_vjp
def kl_inverse(q, c):
    def halve(_, ends):
        low, high = ends
        middle = (low + high) / 2
        inside = kl(q, middle) <= c
        return jnp.where(inside, middle, low), jnp.where(inside, high, middle)

    return jax.lax.fori_loop(0, 30, halve, (q, jnp.float32(1 - 1e-6)))[0]


def kl_inverse_forward(q, c):
    p = kl_inverse(q, c)
    return p, (q, p)


def kl_inverse_reverse(saved, cotangent):
    q, p = saved
    by_c = p * (1 - p) / (p - q)
    return cotangent * by_c * (jnp.log(p / q) + jnp.log((1 - q) / (1 - p))), cotangent * by_c


kl_inverse.defvjp(kl_inverse_forward, kl_inverse_reverse)


def trainer(model, D, count):
    begin, run = network(model, D)
    tree = jax.tree_util

    def losses(weights, z, b):
        return jnp.mean(jnp.sum((jax.vmap(run, (None, 0))(weights, b) - z) ** 2, axis=1))

    def objective(parameters, key, z, b):
        w, zeta, nu = parameters
        keys = tree.tree_unflatten(tree.tree_structure(w), jax.random.split(key, len(tree.tree_leaves(w))))
        theta = tree.tree_map(lambda m, s, k: m + jnp.exp(s / 2) * jax.random.normal(k, m.shape), w, zeta, keys)
        risk = jax.nn.sigmoid(0.1 * losses(theta, z, b))
        terms = tree.tree_map(
            lambda m, s, p, v: 0.5 * ((jnp.sum(jnp.exp(s)) + jnp.sum((m - p) ** 2)) * jnp.exp(-v) - m.size + m.size * v
                                      - jnp.sum(s)) + 2 * jnp.log(100 * (jnp.log(100.0) - v)), w, zeta, begin, nu)
        B = (sum(tree.tree_leaves(terms)) + 18) / count
        return kl_inverse(risk, B) + 1000 * (B - 0.1) ** 2

    def update(state, batch):
        parameters, first, second, step, key = state
        key, own = jax.random.split(key)
        gradient = jax.grad(objective)(parameters, own, *batch)
        step = step + 1
        first = tree.tree_map(lambda m, g: 0.9 * m + 0.1 * g, first, gradient)
        second = tree.tree_map(lambda v, g: 0.999 * v + 0.001 * g * g, second, gradient)
        scale = 1e-6 * jnp.sqrt(1 - 0.999 ** step) / (1 - 0.9 ** step)
        parameters = tree.tree_map(lambda x, m, v: x - scale * m / (jnp.sqrt(v) + 1e-8), parameters, first, second)
        return (parameters, first, second, step, key), 0.0

    def plain(total, batch):
        gradient = jax.grad(losses)(begin, *batch)
        return tree.tree_map(lambda t, g: t + g, total, gradient), 0.0

    zeta = tree.tree_map(lambda m: jnp.full(m.shape, -18.0, jnp.float32), begin)
    nu = tree.tree_map(lambda m: jnp.float32(np.log(1e-2)), begin)
    parameters = (begin, zeta, nu)
    zeros = tree.tree_map(jnp.zeros_like, parameters)
    state = (parameters, zeros, zeros, jnp.float32(0), jax.random.key(0))
    return update, state, plain, tree.tree_map(jnp.zeros_like, begin)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", choices=["alista", "lista"], default="alista")
    parser.add_argument("--samples", type=int, default=50000)
    parser.add_argument("--epochs", type=int, default=1)
    parser.add_argument("--plain", action="store_true", help="forward and reverse sweep alone")
    options = parser.parse_args()
    D, z, b = sample(options.samples, 0)
    update, state, plain, total = trainer(options.model, D, options.samples)
    body, carry = (plain, total) if options.plain else (update, state)
    batches = (jnp.asarray(z.reshape(-1, BATCH, N)), jnp.asarray(b.reshape(-1, BATCH, M)))
    epoch = jax.jit(lambda c, data: jax.lax.scan(body, c, data)[0]).lower(carry, batches).compile()
    load = os.getloadavg()[0]
    start, cpu = time.perf_counter(), time.process_time()
    for _ in range(options.epochs):
        carry = jax.block_until_ready(epoch(carry, batches))
    seconds, cpu = time.perf_counter() - start, time.process_time() - cpu
    print(json.dumps({"baseline": "sparse_coding", "model": options.model, "plain": options.plain, "samples": options.samples,
                      "device": jax.devices()[0].device_kind, "cores": len(os.sched_getaffinity(0)), "load_before": load,
                      "epoch_seconds": seconds / options.epochs, "epoch_cpu_seconds": cpu / options.epochs}))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
