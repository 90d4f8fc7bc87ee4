#!/usr/bin/env python3
"""Baseline: image deblurring by OSQP in JAX, dense and instance by instance.

    python3 -m venv .venv && .venv/bin/pip install -r requirements.txt
    .venv/bin/python deblurring_jax.py --instances 1000 --steps 500

prints times in seconds as JSON. The images are random pen strokes, or real letters with --letters FILE (IDX, gzip).

The problem: an image of 28 x 28 pixels is blurred by B = kron(b, b), b the Toeplitz matrix of 9 taps of 1/8 with zero
boundary, and noise of standard deviation 0.001 is added; from the result x the image comes back by

    minimise 1/2 ||B y - x||^2 + 1e-4 1'y   subject to   0 <= y <= 1,

a quadratic program with P = B'B and A = I of which only the cost vector differs between instances. OSQP (Stellato et
al., Math. Prog. Comp. 12, 2020) with sigma = rho = alpha = 1 from zero: each step of (x, y, w) solves a system in
P + sigma I + rho A'A, of order 784. Residual after step k: the 2-norm of the change of (x, y, w) in that step.
"""

import gzip
import pathlib
import sys

from baseline import jax, jnp, measure, np, options_parser

SIDE = 28
PIXELS = SIDE * SIDE
TAPS, TAP = 9, 1 / 8
NOISE_STD = 0.001
SPARSITY_WEIGHT = 1e-4
SIGMA = RHO = 1.0


def blur_matrix():
    offsets = np.subtract.outer(np.arange(SIDE), np.arange(SIDE))
    line = np.where(np.abs(offsets) <= TAPS // 2, TAP, 0.0)
    return np.kron(line, line)


def random_strokes(instances, seed):
    """Bright quadratic curves of a pen, three to an image: as sparse and as smooth as handwriting."""
    random = np.random.default_rng([seed, 0])
    rows, columns = np.mgrid[0:SIDE, 0:SIDE]
    time = np.linspace(0, 1, 25)[:, None]
    images = np.empty((instances, SIDE, SIDE))
    for image in images:
        darkness = np.ones((SIDE, SIDE))
        for _ in range(3):
            begin, middle, end = random.uniform(5, SIDE - 5, (3, 2))
            for row, column in (1 - time)**2 * begin + 2 * time * (1 - time) * middle + time**2 * end:
                darkness *= 1 - 0.6 * np.exp(-((rows - row)**2 + (columns - column)**2) / 1.5)
        image[:] = 1 - darkness
    return images.reshape(instances, PIXELS)


def read_letters(path, instances):
    with gzip.open(path) as file:
        content = file.read()
    count, height, width = np.frombuffer(content, ">i4", 3, 4)
    if (height, width) != (SIDE, SIDE) or count < instances:
        raise SystemExit(f"{path}: {count} images of {height} x {width}, {instances} of {SIDE} x {SIDE} are needed")
    return np.frombuffer(content, np.uint8, instances * PIXELS, 16).reshape(instances, PIXELS) / 255


def cost_vectors(images, seed):
    random = np.random.default_rng([seed, 1])
    blurred = images @ blur_matrix().T + NOISE_STD * random.standard_normal(images.shape)
    return SPARSITY_WEIGHT - blurred @ blur_matrix()


def runner(steps):
    """factorise() and run_block(factor, cost vectors) -> iterates (block, steps + 1, n + 2m), residuals."""
    blur = jnp.asarray(blur_matrix())
    P, A = blur.T @ blur, jnp.eye(PIXELS)
    lower, upper = jnp.zeros(PIXELS), jnp.ones(PIXELS)

    def factorise():
        return jax.scipy.linalg.lu_factor(P + SIGMA * jnp.eye(PIXELS) + RHO * A.T @ A)

    def step(factor, cost, z):
        # A = I: the products with A that remain are left out.
        x, y, w = jnp.split(z, 3)
        x = jax.scipy.linalg.lu_solve(factor, SIGMA * x - cost + RHO * w - y)
        w = jnp.clip(x + y / RHO, lower, upper)
        return jnp.concatenate([x, y + RHO * (x - w), w])

    def run(factor, cost):
        def body(k, carry):
            z, iterates, residuals = carry
            new = step(factor, cost, z)
            return new, iterates.at[k + 1].set(new), residuals.at[k].set(jnp.linalg.norm(new - z))

        carry = jnp.zeros(3 * PIXELS), jnp.zeros((steps + 1, 3 * PIXELS)), jnp.zeros(steps)
        _, iterates, residuals = jax.lax.fori_loop(0, steps, body, carry)
        return iterates, residuals

    return factorise, jax.vmap(run, in_axes=(None, 0))


def main():
    parser = options_parser(__doc__)
    parser.add_argument("--letters", type=pathlib.Path, metavar="FILE", help="images in IDX format, gzip")
    options = parser.parse_args()
    images = (read_letters(options.letters, options.instances) if options.letters
              else random_strokes(options.instances, options.seed))
    factorise, run_block = runner(options.steps)
    measure("deblurring", options, factorise, run_block, jnp.asarray(cost_vectors(images, options.seed)))
    return 0


if __name__ == "__main__":
    sys.exit(main())
