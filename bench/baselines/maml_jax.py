#!/usr/bin/env python3
"""Baseline: second-order MAML on sinusoids in JAX, float32.

    python3 -m venv .venv && .venv/bin/pip install -r requirements.txt
    .venv/bin/python maml_jax.py

prints as JSON the seconds of a training step of 10 tasks and of the evaluation of 10 inner steps on 50,000 tasks. A task is y = A sin(a -
phase) with 10 points to learn from and 100 to be judged by; a network 1-40-40-1 with ReLU makes inner steps of 0.01 along the gradient
of its mean squared error.

A training step draws theta = w + exp(zeta/2) xi, one for the batch as the paper's code does or, with --draws task, one for every task as
ours does, makes 2 inner steps per task, takes the gradient of kl_inv(sigma(c mean
loss), B) + mu (B - B_target)^2 by (w, zeta, nu) through them in reverse mode, and an Adam update: one compiled function over all steps.
The evaluation keeps the mean squared error over the 100 points after 0, 1, ..., 10 steps; tasks go through vmap in blocks, all in one
compiled function. --block tries other sizes.
"""

import argparse
import json
import os
import time

import jax
import jax.numpy as jnp
import numpy as np

from sparse_coding_jax import kl_inverse

H = 40
BATCH = 10
STEP = 0.01


def sample(count, seed):
    random = np.random.default_rng([seed, count])
    amplitude = random.uniform(0.1, 5, (count, 1))
    phase = random.uniform(0, np.pi, (count, 1))
    inputs = random.uniform(-5, 5, (count, 110))
    outputs = amplitude * np.sin(inputs - phase)
    return tuple(jnp.asarray(part, jnp.float32)
                 for part in (inputs[:, :10], outputs[:, :10], inputs[:, 10:], outputs[:, 10:]))


def initial():
    random = np.random.default_rng(0)
    shapes = [(H, 1), (H,), (H, H), (H,), (1, H), (1,)]
    return [jnp.asarray(random.standard_normal(s) * np.sqrt(2 / s[1]) if len(s) == 2 else np.zeros(s), jnp.float32)
            for s in shapes]


def network(theta, a):
    W1, b1, W2, b2, W3, b3 = theta
    h = jax.nn.relu(a[:, None] @ W1.T + b1)
    h = jax.nn.relu(h @ W2.T + b2)
    return (h @ W3.T + b3)[:, 0]


def error(theta, a, y):
    return jnp.mean((network(theta, a) - y) ** 2)


def adapt(theta, a, y):
    return [t - STEP * g for t, g in zip(theta, jax.grad(error)(theta, a, y))]


def task_loss(theta, task, steps):
    a, y, a_test, y_test = task
    for _ in range(steps):
        theta = adapt(theta, a, y)
    return error(theta, a_test, y_test)


def trainer(count, draws):
    begin = initial()
    tree = jax.tree_util

    def objective(parameters, key, tasks):
        w, zeta, nu = parameters
        keys = jax.random.split(key, len(w))
        own = (BATCH,) if draws == "task" else ()
        theta = [m + jnp.exp(s / 2) * jax.random.normal(k, own + m.shape) for m, s, k in zip(w, zeta, keys)]
        losses = jax.vmap(task_loss, (0 if own else None, 0, None))(theta, tasks, 2)
        risk = jax.nn.sigmoid(0.1 * jnp.mean(losses))
        terms = [0.5 * ((jnp.sum(jnp.exp(s)) + jnp.sum(m ** 2)) * jnp.exp(-v) - m.size + m.size * v - jnp.sum(s))
                 + 2 * jnp.log(100 * (jnp.log(100.0) - v)) for m, s, v in zip(w, zeta, nu)]
        B = (sum(terms) + 18) / count
        return kl_inverse(risk, B) + 1000 * (B - 0.1) ** 2

    def update(state, tasks):
        parameters, first, second, step, key = state
        key, own = jax.random.split(key)
        gradient = jax.grad(objective)(parameters, own, tasks)
        step = step + 1
        first = tree.tree_map(lambda m, g: 0.9 * m + 0.1 * g, first, gradient)
        second = tree.tree_map(lambda v, g: 0.999 * v + 0.001 * g * g, second, gradient)
        scale = 1e-3 * jnp.sqrt(1 - 0.999 ** step) / (1 - 0.9 ** step)
        parameters = tree.tree_map(lambda x, m, v: x - scale * m / (jnp.sqrt(v) + 1e-8), parameters, first, second)
        return (parameters, first, second, step, key), 0.0

    zeta = [jnp.full(m.shape, -10.0, jnp.float32) for m in begin]
    nu = [jnp.float32(np.log(1e-2)) for _ in begin]
    parameters = (begin, zeta, nu)
    zeros = tree.tree_map(jnp.zeros_like, parameters)
    return update, (parameters, zeros, zeros, jnp.float32(0), jax.random.key(0))


def evaluation(steps):
    def one(theta, task):
        a, y, a_test, y_test = task

        def body(now, _):
            after = adapt(now, a, y)
            return after, error(after, a_test, y_test)

        before = error(theta, a_test, y_test)
        return jnp.concatenate([before[None], jax.lax.scan(body, theta, None, length=steps)[1]])

    blocks = jax.vmap(one, (None, 0))
    return jax.jit(lambda theta, tasks: jax.lax.map(lambda block: blocks(theta, block), tasks))


def measured(compiled, *arguments):
    start, cpu = time.perf_counter(), time.process_time()
    result = jax.block_until_ready(compiled(*arguments))
    return time.perf_counter() - start, time.process_time() - cpu, result


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--batches", type=int, default=500, help="training steps that are timed")
    parser.add_argument("--tasks", type=int, default=50000)
    parser.add_argument("--block", type=int, default=1000, help="tasks evaluated together")
    parser.add_argument("--draws", choices=["batch", "task"], default="batch", help="one theta for a batch, or for every task")
    options = parser.parse_args()
    load = os.getloadavg()[0]

    update, state = trainer(options.batches * BATCH, options.draws)
    batches = tuple(part.reshape(options.batches, BATCH, -1) for part in sample(options.batches * BATCH, 0))
    epoch = jax.jit(lambda s, data: jax.lax.scan(update, s, data)[0]).lower(state, batches).compile()
    jax.block_until_ready(epoch(state, batches))
    training, training_cpu, state = measured(epoch, state, batches)

    tasks = tuple(part.reshape(-1, options.block, part.shape[1]) for part in sample(options.tasks, 1))
    compiled = evaluation(10).lower(initial(), tasks).compile()
    seconds, cpu, errors = measured(compiled, initial(), tasks)
    print(json.dumps({"baseline": "maml", "device": jax.devices()[0].device_kind, "cores": len(os.sched_getaffinity(0)),
                      "load_before": load, "draws": options.draws, "training_step_seconds": training / options.batches,
                      "training_step_cpu_seconds": training_cpu / options.batches, "tasks": options.tasks,
                      "block": options.block, "evaluation_seconds": seconds, "evaluation_cpu_seconds": cpu,
                      "median_error_after_10": float(np.median(np.asarray(errors[..., -1])))}))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
