"""Writes a portfolio family as files for `surefoot run cone examples/portfolio`.

    python3 examples/portfolio/make_family.py        (needs numpy)

Choose shares x >= 0 of n = 20 assets, sum x = 1, with the largest expected return mu'x and a risk ||F'x|| <= 0.12, F the
20 x 4 loadings of four factors. Only the expected returns vary from day to day: mu = 0.05 + 0.02 * normal, seed 7.

    minimise c'x   subject to   Ax + s = b,  s in {0} x R^20_+ x second-order cone of dimension 5
"""
import pathlib

import numpy as np

HERE = pathlib.Path(__file__).parent
ASSETS, FACTORS, INSTANCES, RISK = 20, 4, 400, 0.12


def write_matrix(name, matrix, comment):
    entries = [(i + 1, j + 1, matrix[i, j]) for j in range(matrix.shape[1]) for i in range(matrix.shape[0]) if matrix[i, j]]
    with open(HERE / name, "w") as file:
        file.write(f"%%MatrixMarket matrix coordinate real general\n% {comment}\n")
        file.write(f"{matrix.shape[0]} {matrix.shape[1]} {len(entries)}\n")
        file.writelines(f"{i} {j} {value:.6g}\n" for i, j, value in entries)


def main():
    random = np.random.default_rng(7)
    loadings = 0.2 * random.standard_normal((ASSETS, FACTORS))
    returns = 0.05 + 0.02 * random.standard_normal((INSTANCES, ASSETS))
    rows = 1 + ASSETS + 1 + FACTORS
    matrix = np.zeros((rows, ASSETS))
    matrix[0] = 1                                  # sum x = 1
    matrix[1:1 + ASSETS] = -np.eye(ASSETS)         # s = x >= 0
    matrix[2 + ASSETS:] = -loadings.T              # s = (risk, F'x); the row of the constant risk is zero
    b = np.zeros(rows)
    b[0], b[1 + ASSETS] = 1, RISK
    write_matrix("P.mtx", np.zeros((ASSETS, ASSETS)), "no quadratic cost")
    write_matrix("A.mtx", matrix, "budget, shares, risk")
    np.savetxt(HERE / "b.csv", b[None], delimiter=",", fmt="%.6g")
    np.savetxt(HERE / "c.csv", -returns, delimiter=",", fmt="%.6g")


if __name__ == "__main__":
    main()
