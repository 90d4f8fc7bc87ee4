import numpy as np, osqp, scipy.sparse as sparse, surefoot

random, residuals = np.random.default_rng(0), np.empty((1000, 60))    # a row per problem, a column per iteration
A, solver = sparse.random(30, 20, 0.3, format="csc", random_state=0), osqp.OSQP()
solver.setup(sparse.eye(20, format="csc"), np.zeros(20), A, -np.ones(30), np.ones(30), max_iter=1, rho=1, adaptive_rho=False, verbose=False)
for row in residuals:
    solver.update(q=2 * random.normal(size=20))                       # the next problem in your loop
    solver.warm_start(x=np.zeros(20), y=np.zeros(30))
    for k in range(60):
        info = solver.solve().info                                    # one more iteration
        row[k] = max(info.prim_res, info.dual_res)
certificate = surefoot.certify(residuals, metric="residual", tolerances=[1e-4, 1e-3, 1e-2])
print(certificate)
certificate.report("osqp-report")                                     # osqp-report/report.html
