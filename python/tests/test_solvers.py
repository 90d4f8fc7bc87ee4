"""The solvers' own binaries, step by step."""

import dataclasses
import sys

import numpy as np
import pytest
import surefoot
from surefoot import solvers

sparse = pytest.importorskip("scipy.sparse")


def qp_family(instances=12, seed=3):
    """Projections on a polyhedron with an equality, inequalities and a row without bounds."""
    random = np.random.default_rng(seed)
    A = np.vstack([np.ones(4), np.eye(4), random.normal(size=4)])
    lower = np.concatenate([[1.0], np.zeros(4), [-np.inf]])
    upper = np.concatenate([[1.0], np.full(4, 0.6), [np.inf]])
    q = random.normal(size=(instances, 4))
    return surefoot.QPFamily(np.diag([1.0, 2.0, 3.0, 4.0]) + 0.2, A, q, lower, upper)


def cone_family(instances=8, seed=4):
    """Distances to random points in a ball and a semidefinite cone."""
    random = np.random.default_rng(seed)
    # Variables: x (3) of a second-order cone ||x|| <= 1, and X (3) of a semidefinite cone of order 2, plus x1 + x2 = 0.3.
    A = np.zeros((1 + 4 + 3, 6))
    A[0, :2] = 1.0
    A[2:5, :3] = -np.eye(3)
    A[5:8, 3:] = -np.eye(3)
    b = np.array([0.3, 1.0, 0, 0, 0, 0, 0, 0])
    c = random.normal(size=(instances, 6))
    return surefoot.ConeFamily(np.eye(6), A, b, c, zero=1, second_order=[4], semidefinite=[2])


def same_certificates(real, engine, tolerances, atol=1e-10):
    """Of the package's own runs and of the engine's; `atol`: by which values of the metric may differ."""
    certificates = [surefoot.certify(traces, tolerances=tolerances) for traces in (real, engine)]
    # Quantiles and bands are values of the metric, which differ by rounding; what is counted does not.
    values = (surefoot.QuantileClaim, surefoot.OtherClaim)
    counted = [[claim for claim in each.claims if not isinstance(claim, values)] for each in certificates]
    assert counted[0] and counted[0] == counted[1]
    quantiles = [[claim for claim in each.claims if isinstance(claim, surefoot.QuantileClaim)] for each in certificates]
    assert quantiles[0] and len(quantiles[0]) == len(quantiles[1])
    for its, mine in zip(*quantiles):
        assert np.isclose(mine.upper_bound, its.upper_bound, rtol=1e-6, atol=atol)
        # Values that are equal but for rounding are below each other or not.
        rounded = {name: getattr(its, name) for name in ("empirical", "upper_bound", "below", "at_most")}
        assert dataclasses.replace(mine, **rounded) == its


def test_osqp_with_its_state_kept_equals_reruns():
    pytest.importorskip("osqp")
    family = qp_family()
    kept = solvers.osqp(family, 30, adaptive_rho=False)
    # Adaptation is on, but never comes to it: the same iterations, by reruns.
    reruns = solvers.osqp(family, 30, adaptive_rho=True, adaptive_rho_interval=10_000)
    assert kept.run["stepping"] == "kept state" and reruns.run["stepping"] == "reruns"
    assert np.allclose(kept.values, reruns.values, rtol=1e-6, atol=1e-9)
    assert kept.steps == tuple(range(1, 31))


def test_osqp_is_what_the_engine_computes():
    pytest.importorskip("osqp")
    family = qp_family()
    real = solvers.osqp(family, 25, metric="violation", adaptive_rho=False)
    assert np.allclose(real.values, family.traces(25, metric="violation", preset="fixed").values[:, 1:], atol=1e-7)
    distance = solvers.osqp(family, 25, metric="distance", adaptive_rho=False).values
    assert np.allclose(distance, family.traces(25, metric="distance", preset="fixed").values[:, 1:], atol=1e-6)


def test_osqp_as_installed_is_what_the_engine_computes():
    pytest.importorskip("osqp")
    family = qp_family()
    steps = [1, 10, 49, 50, 51, 100, 101, 150]
    fast = {"adaptive_rho_interval": 10, "adaptive_rho_tolerance": 1.5}
    for settings in ({}, fast):
        real = solvers.osqp(family, record=steps, metric="violation", **settings)
        engine = family.traces(150, metric="violation", settings=settings)
        ours = engine.values[:, steps]
        assert np.allclose(real.values, ours, rtol=1e-6, atol=1e-12)
        same_certificates(real, dataclasses.replace(engine, values=ours, steps=tuple(steps)), [1e-4, 1e-2])
    assert family.terminations(settings=fast).rho_updates.max() > 0


def test_terminations_are_those_of_the_package():
    package = pytest.importorskip("osqp")
    family = qp_family()
    for settings in ({}, {"eps_abs": 1e-6, "eps_rel": 1e-6, "adaptive_rho_interval": 10, "adaptive_rho_tolerance": 1.5}):
        ended = family.terminations(4000, settings=settings)
        for i in range(family.instances):
            solver = package.OSQP()
            solver.setup(
                family.matrix("P", i).scipy(), family.row("q", i), family.matrix("A", i).scipy(), family.row("l", i),
                family.row("u", i), verbose=False, **settings,
            )  # fmt: skip
            info = solver.solve(raise_error=False).info
            assert (ended.status[i], ended.iterations[i], ended.rho_updates[i]) == (
                info.status, info.iter, info.rho_updates,
            )  # fmt: skip
            for name in ("prim_res", "dual_res", "duality_gap", "obj_val"):
                assert np.isclose(getattr(ended, name)[i], getattr(info, name), rtol=1e-6, atol=1e-10), name


def test_osqp_adapts_and_converges():
    pytest.importorskip("osqp")
    traces = solvers.osqp(qp_family(), metric="kkt", record=[1, 10, 100, 400])
    assert traces.steps == (1, 10, 100, 400)
    assert traces.values[:, -1].max() < 1e-6 < traces.values[:, 0].min()


def test_osqp_starts_where_it_is_told():
    pytest.importorskip("osqp")
    family = qp_family()
    solutions = family.solve()[:, : 4 + 6]
    warm = solvers.osqp(family, 3, start=solutions, adaptive_rho=False, name="warm")
    assert warm.values.max() < 1e-5
    assert warm.run["start"] == "given" and warm.name == "warm"


def test_scs_converges_to_the_solution():
    pytest.importorskip("scs")
    family = cone_family()
    traces = solvers.scs(family, record=[5, 500], metric="kkt")
    assert traces.values[:, 1].max() < 1e-6 < traces.values[:, 0].max()
    assert solvers.scs(family, record=[500], metric="distance").values.max() < 1e-5


def test_scs_is_what_the_engine_computes():
    pytest.importorskip("scs")
    family = cone_family()
    plain = {"normalize": False, "adaptive_scale": False, "acceleration_lookback": 0}
    for preset, settings in (("default", {}), ("fixed", plain)):
        real = solvers.scs(family, 60, metric="distance", **settings).values
        engine = family.traces(60, metric="distance", preset=preset).values[:, -60:]
        assert real.shape == engine.shape == (8, 60)
        assert np.allclose(engine, real, rtol=1e-6, atol=1e-8)


def test_scs_as_installed_is_what_the_engine_computes():
    """Portfolios: linear costs, a budget, bounds and a bound on the risk; scale and rows' scales change."""
    pytest.importorskip("scs")
    random = np.random.default_rng(5)
    n = 6
    A = np.vstack([np.ones(n), -np.eye(n), np.zeros(n), 0.4 * random.normal(size=(3, n))])
    b = np.concatenate([[1.0], np.zeros(n), [0.5], np.zeros(3)])
    c = random.normal(size=(10, n)) - 0.3
    family = surefoot.ConeFamily(None, A, b, c, zero=1, nonnegative=n, second_order=[4])
    steps = [1, 5, 25, 26, 50, 101, 126, 150]
    # After rows' scales have followed residuals that are rounding, in two of the problems, rounding is seen; not before.
    for settings, atol in (({}, 1e-7), ({"adaptive_diag_scale": 0}, 1e-11)):
        real = solvers.scs(family, record=steps, metric="violation", **settings)
        engine = family.traces(150, metric="violation", settings=settings)
        ours = engine.values[:, steps]
        before = steps.index(101) + 1
        assert np.allclose(real.values[:, :before], ours[:, :before], rtol=1e-6, atol=1e-11)
        assert np.allclose(real.values, ours, rtol=1e-6, atol=atol)
        same_certificates(real, dataclasses.replace(engine, values=ours, steps=tuple(steps)), [1e-5, 1e-2], atol)
    assert family.terminations(150).scale_updates.max() > 0


def test_scs_terminations_are_those_of_the_package():
    scs = pytest.importorskip("scs")
    sparse = pytest.importorskip("scipy.sparse")
    family = cone_family()
    cones = {"z": 1, "q": [4], "s": [2]}
    for settings in ({}, {"eps_abs": 1e-7, "eps_rel": 1e-7}):
        ended = family.terminations(2000, settings=settings)
        points = family.iterates(2000, settings={"stop": True, **settings})
        for i in range(family.instances):
            data = {"P": sparse.triu(family.matrix("P", i).scipy(), format="csc"), "A": family.matrix("A", i).scipy(),
                    "b": family.row("b", i), "c": family.row("c", i)}  # fmt: skip
            real = scs.SCS(data, cones, verbose=False, max_iters=2000, **settings).solve()
            assert ended.status[i] == real["info"]["status"] == "solved"
            assert ended.iterations[i] == real["info"]["iter"]
            assert ended.scale_updates[i] == real["info"]["scale_updates"]
            assert ended.scale[i] == pytest.approx(real["info"]["scale"], rel=1e-6)
            assert np.allclose(points[i], np.concatenate([real["x"], real["y"], real["s"]]), rtol=1e-6, atol=1e-7)


def test_clarabel_converges_and_stops_by_itself():
    pytest.importorskip("clarabel")
    family = cone_family()
    traces = solvers.clarabel(family, 30)
    assert traces.values[:, -1].max() < 1e-6 < traces.values[:, 0].max()
    assert np.array_equal(traces.values[:, -1], traces.values[:, -2]), "later steps have its last point"
    assert solvers.clarabel(family, record=[30], metric="distance").values.max() < 1e-5


def test_clarabel_orders_semidefinite_rows_as_we_do():
    """minimise ||X - C||^2 over semidefinite X of order 3: cut the negative eigenvalues off."""
    clarabel = pytest.importorskip("clarabel")
    assert clarabel
    random = np.random.default_rng(0)
    symmetric = random.normal(size=(3, 3))
    symmetric = symmetric + symmetric.T
    columns, rows = np.triu_indices(3)
    scale = np.where(rows == columns, 1.0, np.sqrt(2))
    values, vectors = np.linalg.eigh(symmetric)
    nearest = ((vectors * np.maximum(values, 0)) @ vectors.T)[rows, columns] * scale
    family = surefoot.ConeFamily(np.eye(6), -np.eye(6), np.zeros(6), -symmetric[rows, columns] * scale, semidefinite=[3])
    traces = solvers.clarabel(family, record=[30], metric=lambda x, y, i: np.abs(x - nearest).max())
    assert traces.values.max() < 1e-6


def test_certificates_say_what_was_run_and_varied():
    pytest.importorskip("osqp")
    traces = solvers.osqp(qp_family(), 10, adaptive_rho=False, rho=0.2)
    certificate = surefoot.certify(traces, tolerances=[0.1])
    assert certificate.run["solver"] == "osqp" and certificate.run["varied"] == ["q"]
    assert certificate.run["settings"] == {"adaptive_rho": False, "rho": 0.2}
    assert certificate.metric == "kkt" and certificate.variants == ("osqp",)
    assert certificate.verify(traces)


def test_own_metrics():
    pytest.importorskip("osqp")

    def first_entry(x, y, instance):
        return x[0] + instance

    family = qp_family()
    traces = solvers.osqp(family, record=[300], metric=first_entry, adaptive_rho=False)
    assert traces.metric == "first_entry"
    assert np.allclose(traces.values[:, 0] - np.arange(12), family.solve()[:, 0], atol=1e-5)


def test_a_solver_that_gives_up_has_failed():
    pytest.importorskip("scs")
    infeasible = surefoot.ConeFamily(None, [[1.0], [-1.0]], [-1.0, -1.0], [1.0], nonnegative=2)
    traces = solvers.scs(infeasible, record=[1000], eps_infeas=1e-7)
    assert np.isinf(traces.values).all()


@pytest.mark.parametrize("solver", ["osqp", "scs", "clarabel"])
def test_missing_packages_are_named(monkeypatch, solver):
    monkeypatch.setitem(sys.modules, solver, None)
    family = qp_family() if solver == "osqp" else cone_family()
    with pytest.raises(ImportError, match=rf"needs the package {solver}: pip install {solver} "):
        getattr(solvers, solver)(family)


def test_wrong_uses_are_refused():
    pytest.importorskip("scs")
    pytest.importorskip("osqp")
    with pytest.raises(TypeError, match=r"scs solves a ConeFamily, not a QPFamily; family.as_cones\(\) makes one"):
        solvers.scs(qp_family())
    with pytest.raises(ValueError, match="'speed' is not one of"):
        solvers.osqp(qp_family(), metric="speed")
    with pytest.raises(ValueError, match="increasing"):
        solvers.osqp(qp_family(), record=[3, 2])
    with pytest.raises(ValueError, match=r"start: has shape \(3,\)"):
        solvers.osqp(qp_family(), start=np.zeros(3))


def test_overflow_is_a_failure_not_a_success():
    """A finite point at which A x overflows: inf - inf must not be passed over by a maximum."""
    huge = np.full(2, 1e308)
    family = surefoot.QPFamily(np.eye(2), np.ones((1, 2)), np.zeros((1, 2)), np.zeros((1, 1)), np.full((1, 1), np.inf))
    for metric in ("violation", "kkt"):
        with np.errstate(all="ignore"):
            value = solvers._measure(family, metric)(huge, np.zeros(1), 0)
        assert not value < 1e300, metric
    cones = surefoot.ConeFamily(None, np.ones((2, 1)), np.zeros((1, 2)), np.zeros((1, 1)), zero=1, nonnegative=1)
    assert np.isnan(solvers._cone_violation(cones, np.array([0.0, np.nan])))


METRICS = ["kkt", "violation", "dual", "gap", "distance", "nmse", lambda x, y, i: float(x @ x)]


def traces_of_points(family, metric, *points):
    """Values of a metric at these points, y = 0, as a solver's adapter records them."""
    y = np.zeros(family.constraints)
    run = {"solver": "none", "version": "0"}
    with np.errstate(all="ignore"):
        steps = list(range(1, len(points) + 1))
        return solvers._traces(family, steps, metric, lambda i: [(x, y) for x in points], "none", run).values[0]


@pytest.mark.parametrize("metric", METRICS)
@pytest.mark.parametrize("family", [qp_family(1), cone_family(1)], ids=["qp", "cones"])
def test_extreme_numbers_are_never_a_success(family, metric):
    plain = np.full(family.variables, 0.1)
    for entry in range(family.variables):
        for number in (np.nan, np.inf, -np.inf, 1e308, -1e308, 1e200):
            x = plain.copy()
            x[entry] = number
            value = traces_of_points(family, metric, x)[0]
            # A huge number on the diagonal of a semidefinite matrix violates nothing.
            allowed = metric == "violation" and isinstance(family, surefoot.ConeFamily) and np.isfinite(number)
            assert allowed or not value < (1000 if metric == "nmse" else 1e150), (entry, number)
        for number in (5e-324, -1e-310):
            tiny, zero = plain.copy(), plain.copy()
            tiny[entry], zero[entry] = number, 0.0
            a, b = traces_of_points(family, metric, tiny, zero)
            assert a == pytest.approx(b, rel=1e-12, abs=1e-12)


def test_nmse_is_right_for_numbers_of_any_size():
    def decibels(x, solution):
        with np.errstate(all="ignore"):
            return solvers._to_solution(None, "nmse", np.array(x), np.array(solution), 0)

    for size in (1e-320, 1e-200, 1.0, 1e160, 1e300):
        solution = [3 * size, 4 * size]
        assert decibels([0.0, 0.0], solution) == pytest.approx(0, abs=1e-2), size
        assert decibels(solution, solution) == -3000
    assert decibels([3.3e160, 4.4e160], [3e160, 4e160]) == pytest.approx(-20)
    for x, solution in (([0, 0], [0, 0]), ([1e-300, 0], [0, 0]), ([1, 0], [np.nan, 1]), ([1, 0], [np.inf, 1])):
        assert not np.isfinite(decibels(x, solution)), (x, solution)


@pytest.mark.parametrize("number", [np.nan, np.inf, -np.inf])
def test_starts_that_are_not_finite_are_refused(number):
    family = qp_family(3)
    start = np.zeros((3, family.variables))
    start[1, 2] = number
    with pytest.raises(ValueError, match=f"start: entry 2 of instance 1 is {number}, must be finite"):
        solvers._starts(start, family, family.variables)
