"""Is the certificate still true? The real OSQP in a control loop, each solve reported to a monitor.

    pip install '.[osqp]' && python examples/python/monitor_osqp_mpc.py

The family is that of examples/mpc: a cart is to be brought to rest from a measured state. The controller gives OSQP 60 iterations. 500
measured states make the certificate; the others are those in service, and after 200 of them the cart is pushed harder: its velocities are larger.
"""

import argparse
import pathlib

import numpy as np
import osqp
import scipy.io
import surefoot

FAMILY = pathlib.Path(__file__).resolve().parents[1] / "mpc"
ITERATIONS = 60
TOLERANCE = 1e-2


class Controller:
    """OSQP with its matrices factored once, and the bounds of each problem."""

    def __init__(self):
        P, A = (scipy.sparse.csc_matrix(scipy.io.mmread(FAMILY / f"{name}.mtx")) for name in "PA")
        q, self.lower, self.upper = (np.loadtxt(FAMILY / f"{name}.csv", delimiter=",", ndmin=2) for name in "qlu")
        self.solver = osqp.OSQP()
        self.solver.setup(P, q[0], A, self.lower[0], self.upper[0], max_iter=ITERATIONS, check_termination=0, adaptive_rho=False,
                          warm_starting=False, polishing=False, verbose=False)

    def residual(self, number, push=1.0):
        """Of the solve for measured state `number`; the larger of OSQP's two residuals."""
        lower, upper = self.lower[number].copy(), self.upper[number].copy()
        lower[:2] *= push
        upper[:2] *= push
        self.solver.update(l=lower, u=upper)
        self.solver.warm_start(x=np.zeros(self.solver.n), y=np.zeros(self.solver.m))
        info = self.solver.solve().info
        return max(info.prim_res, info.dual_res)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--push", type=float, default=2.0, help="factor on the state after the change")
    parser.add_argument("--arl", type=float, default=1e6)
    options = parser.parse_args()

    controller = Controller()
    samples = np.array([controller.residual(i) for i in range(500)])
    certificate = surefoot.certify(samples[:, None], recorded_steps=[ITERATIONS], metric="residual", tolerances=[TOLERANCE])
    monitor = surefoot.Monitor(certificate, f"below {TOLERANCE} after {ITERATIONS}", arl=options.arl)
    claim, rate, _ = monitor.claims[0]
    print(f"watched: {claim}, certified for at least {surefoot.number_text.percent_at_least(1 - rate)} of solves")
    print(*monitor.promise, sep="\n")

    for tick in range(500):
        push = 1.0 if tick < 200 else options.push
        alarm = monitor.update(controller.residual(500 + tick, push))
        if alarm:
            print(alarm)
            break
    else:
        print(f"no alarm in {monitor.solves} solves")


if __name__ == "__main__":
    main()
