"""Constructors and functions with random arguments: a result, or a Python exception that says why in one line. Seeded."""

import os
import random

import numpy as np
import pytest
import surefoot

ROUNDS = int(os.environ.get("SUREFOOT_HOSTILE_ROUNDS", "400"))
LARGE = [2**31, 2**32 + 1, 2**62, 2**63 - 1, 2**63, 2**64, -1, -(2**63)]
EXPECTED = (ValueError, TypeError, OverflowError, MemoryError, surefoot.InputError)


class Draw:
    """Random arguments: now and then a good one."""

    def __init__(self, seed):
        self.random = random.Random(seed)
        self.generator = np.random.default_rng(seed)

    def one_of(self, *choices):
        return self.random.choice(choices)

    def size(self):
        return self.one_of(0, 1, 2, 3, 3, 3, 7)

    def whole(self):
        return self.one_of(0, 1, 2, 3, 3, 5, 2.5, "3", None, True, np.int8(3), np.uint64(2**63), *LARGE)

    def real(self):
        return self.one_of(0.0, 0.5, 1.0, -1.0, 1e-3, 1e308, 5e-324, np.nan, np.inf, -np.inf, "0.5", None, 1j, np.float32(0.25), 10**400)

    def text(self):
        return self.one_of("", "residual", "gap", "distance", "exact", "kl", "a\nb", "\0", "\ud800", "x" * 5000, None, 3, b"gap")

    def array(self, *shape):
        """Of about this shape: other types, orders, strides and values."""
        shape = [self.size() if self.random.random() < 0.2 else each for each in shape]
        if self.random.random() < 0.1:
            shape = shape[:-1] if self.random.random() < 0.5 else [*shape, 2]
        values = self.generator.standard_normal(shape)
        kind = self.random.randrange(14)
        if kind == 0:
            values = np.where(self.generator.random(shape) < 0.3, self.one_of(np.nan, np.inf, -np.inf, 1e308), values)
        elif kind == 1:
            values = values.astype(self.one_of("f4", "f2", "i1", "u8", ">f8", "c16", "?", "O", "S3", "U2"))
        elif kind == 2 and values.ndim:
            values = np.repeat(values, 2, axis=-1)[..., ::2]
        elif kind == 3:
            values = values[..., ::-1] if values.ndim else values
        elif kind == 4:
            values = np.asfortranarray(values)
        elif kind == 5 and values.size:
            values = np.broadcast_to(values.ravel()[0], shape)
        elif kind == 6:
            return self.one_of(None, "array", [], [[]], [[1.0], [1.0, 2.0]], {"a": 1}, object(), 3, range(3), [None], [["x"]])
        elif kind == 7:
            values = values.tolist()
        elif kind == 8:
            values.flags.writeable = False
        return values

    def matrix(self, rows, columns):
        if self.random.random() < 0.5:
            sparse = pytest.importorskip("scipy.sparse")
            good = sparse.random(rows, columns, density=0.5, random_state=self.random.randrange(1000), format="csc")
            harm = self.random.randrange(6)
            if harm == 0 and good.nnz:
                good.indices[0] = self.one_of(-1, rows, 2**31 - 1)
            elif harm == 1:
                good.indptr[-1] = self.one_of(0, good.nnz + 5, -1)
            elif harm == 2 and good.nnz:
                good.data[0] = np.nan
            elif harm == 3:
                good = good.tocoo()
            return good
        if self.random.random() < 0.2:
            return [self.array(rows, columns) for _ in range(self.size())]
        return self.one_of(np.eye(rows, columns), self.array(rows, columns))


def qp_family(draw):
    n, m = draw.size(), draw.size()
    lower = draw.array(4, m)
    upper = lower + 1 if isinstance(lower, np.ndarray) and lower.dtype == float and draw.random.random() < 0.5 else draw.array(4, m)
    return surefoot.QPFamily(draw.matrix(n, n), draw.matrix(m, n), draw.array(4, n), lower, upper,
                             **draw.one_of({}, {}, {"varied": draw.one_of(["l"], "l", [3], None, 3, ["nothing"])}))  # fmt: skip


def cone_family(draw):
    n, m = draw.size(), draw.size()
    cones = {"zero": draw.whole(), "nonnegative": draw.one_of(m, draw.whole()),
             "second_order": draw.one_of([], [3], [draw.whole()], [2**63 - 1, 6], draw.whole(), [draw.whole(), draw.whole()]),
             "semidefinite": draw.one_of([], [2], [draw.whole()], [2**32], [2**31 - 1, 2**31])}  # fmt: skip
    chosen = {name: value for name, value in cones.items() if draw.random.random() < 0.5}
    return surefoot.ConeFamily(draw.one_of(None, draw.matrix(n, n)), draw.matrix(m, n), draw.array(4, m), draw.array(4, n), **chosen)


def posterior(draw):
    names = [draw.one_of("a", "b", "c", "", "a\0", "\ud800", 3) for _ in range(draw.one_of(1, 1, 2, 3))]
    sizes = [draw.size() for _ in names]

    def blocks():
        if draw.random.random() < 0.1:
            return draw.one_of(None, draw.array(3), {}, object(), "a", [("a", 1.0)])
        return {name: draw.one_of(draw.array(size), np.ones(size), 0.5) for name, size in zip(names, sizes)}

    variances = draw.one_of({name: -2.0 for name in names}, {name: draw.real() for name in names}, blocks())
    more = {"lambda_max": draw.real(), "b": draw.real(), "prior_mean": blocks(),
            "metadata": draw.one_of({}, {"a": "b"}, {"a": 1}, {3: "b"}, {"a": "\ud800"}, None, "x")}  # fmt: skip
    chosen = {name: value for name, value in more.items() if draw.random.random() < 0.3}
    return surefoot.pac_bayes.Posterior(blocks(), draw.one_of({name: -6.0 for name in names}, blocks()), variances, **chosen)


def certify(draw):
    options = {"tolerances": draw.one_of([0.1], [draw.real()], draw.array(2), draw.real()),
               "quantiles": draw.one_of([0.5], [draw.real()], draw.array(2), draw.real()),
               "confidence": draw.real(), "first_step": draw.whole(),
               "recorded_steps": draw.one_of([1, 2, 3], [draw.whole()], draw.array(3), [2**63 - 1, 1]),
               "metric": draw.text(), "unit": draw.text(), "names": draw.one_of(["a"], [draw.text()], "a", 3)}  # fmt: skip
    chosen = {name: value for name, value in options.items() if draw.random.random() < 0.3}
    return surefoot.certify(draw.array(6, 3), **chosen)


def bound(draw):
    name = draw.one_of("kl", "kl_inverse", "risk_upper_bound", "success_lower_bound", "clopper_pearson_upper", "binomial_cdf_upper",
                       "binomial_tail_upper", "order_statistic_rank", "anytime_upper", "sequence_upper", "samples_needed", "empirical_rank", "linear_rate_residual", "averaged_rate_residual",
                       "pac_bayes_risk", "calibrated_risk")  # fmt: skip
    return getattr(surefoot.bounds, name)(*(draw.one_of(draw.real(), draw.whole(), draw.array(2)) for _ in range(draw.one_of(2, 3))))


def certificate(draw):
    text = '{"format": "surefoot-certificate", "format_version": 2}'
    at = draw.random.randrange(len(text))
    return surefoot.Certificate(draw.one_of(text[:at], text[:at] + "[" * 100_000, draw.text(), None, 3))


def some_of(draw, options, share=0.3):
    return {name: value for name, value in options.items() if draw.random.random() < share}


def closed_loop(draw):
    family = surefoot.QPFamily(np.eye(1), np.eye(1), [0.0], [-1.0], [1.0])
    plant = draw.one_of(([[0.9]], [[0.5]]), (draw.array(1, 1), [[0.5]]), ([[0.9]], [[0.5]], draw.array(1)), lambda states, inputs, tick: 0.9 * states,
                        lambda states, inputs, tick: draw.array(3, 1), None, draw.text(), ([[0.9]],))  # fmt: skip
    given = {"initial": draw.array(3, 1), "input": draw.one_of(np.eye(1), draw.matrix(1, 1)), "ticks": draw.one_of(2, 3, 5, draw.whole()),
             "limits": draw.one_of([2, 5], [draw.whole()], [5, 2], [2.5], [np.nan], [], 5)}  # fmt: skip
    if draw.random.random() < 0.5:
        given |= {"ticks": 2, "limits": [2]}
    others = {"q_state": draw.one_of(np.eye(1), draw.matrix(1, 1)), "input_bounds": (draw.array(1), draw.array(1)), "state_bounds": ([-3.0], draw.array(1)),
              "cost": draw.one_of(([[1.0]], [[0.1]]), (draw.array(1, 1), [[0.1]]), 3), "seed": draw.whole(), "start": draw.one_of("cold", "kept", draw.text()),
              "disturbance": draw.one_of(("gaussian", [0.1]), ("bounded", draw.array(1)), ("rows", draw.array(6, 1)), (draw.text(), [1.0]), 3),
              "exact_eps": draw.real(), "exact_limit": draw.one_of(10, 2.5, -1, None), "settings": draw.one_of({"rho": draw.real()}, {"rho_": 1}, 3),
              "shift": draw.one_of(([0], [0]), ([draw.whole()], [0]), 3)}  # fmt: skip
    if not isinstance(given["ticks"], (int, np.integer)) or not 2**20 < given["ticks"] < 2**62:  # those in between are long, not wrong
        return surefoot.closed_loop(family, plant, **given, **some_of(draw, others))
    raise ValueError("left out")


def tune(draw):
    def run(settings, problem):
        if draw.random.random() < 0.1:
            return draw.array(4)
        return [1.0, 0.5, 0.1, 0.01 * settings.get("a", 1) if isinstance(settings.get("a", 1), float) else 0.1]

    space = draw.one_of({"a": (0.1, 1)}, {"a": (0.1, 1, "log")}, {"a": (draw.real(), draw.real())}, {"a": [0.1, 0.2]}, {"a": []}, {}, {3: (1, 2)}, {"a": draw.text()})
    target = draw.one_of("50% below 0.2", "50% below 0.2", "below 1", "101% below 1", "99.9999999999999% below 1", "50% below nan", draw.text())
    options = {"default": draw.one_of({"a": 0.5}, {"a": draw.real()}, 3), "runs": draw.one_of(400, draw.whole()), "search_share": draw.real(),
               "confidence": draw.real(), "first_step": draw.whole(), "seed": draw.whole(), "metric": draw.text(), "unit": draw.text()}  # fmt: skip
    problems = draw.one_of(40, 40, 0, -1, 2.5, None, "40", 2**63)
    return surefoot.tune(run, space, target, problems=problems, allow_dependence=True, **some_of(draw, options))


def count(draw):
    options = {"source": draw.one_of("s", draw.text()), "sha256": draw.one_of("a" * 64, draw.text()), "first_row": draw.whole(), "names": draw.one_of(["a"], [draw.text()], 3),
               "metric": draw.text(), "unit": draw.text(), "first_step": draw.whole(), "recorded_steps": draw.one_of([1, 2, 3], [draw.whole()], draw.array(3)),
               "tolerances": draw.one_of([0.1], [draw.real()], draw.array(2)), "run": draw.one_of({"a": 1}, {"a": object()}, 3)}  # fmt: skip
    return surefoot.count(draw.array(6, 3), **some_of(draw, options))


def tally(draw):
    parts = [surefoot.count(np.random.default_rng(i).random((6, 3)), source="s", first_row=6 * i, tolerances=[0.1]) for i in range(2)]
    kind = draw.random.randrange(4)
    if kind == 0:
        return parts[0].merge(draw.one_of(parts[0], parts[1], draw.array(3), None, b"tally"))
    if kind == 1:
        return surefoot.certify(draw.one_of(parts[0], parts, [parts[1]], [parts[0], draw.array(6, 3)]), **draw.one_of({}, {"tolerances": [0.1]}))
    content = bytearray(parts[0].to_bytes())
    for _ in range(draw.one_of(0, 1, 3)):
        content[draw.random.randrange(len(content))] ^= 1 << draw.random.randrange(8)
    content = content[: draw.one_of(len(content), draw.random.randrange(len(content)))]
    return surefoot.Tally.of_bytes(draw.one_of(bytes(content), content, draw.text(), None, 2**40), draw.one_of("tally", "t\n"[:1]))


def charged(draw):
    import json
    import pathlib
    import tempfile

    with tempfile.TemporaryDirectory() as folder:
        charge, losses = pathlib.Path(folder) / "charge.json", pathlib.Path(folder) / "losses.npy"
        content = {"format": draw.one_of("surefoot-charge", "x"), "blocks": draw.one_of([], {}, [{"name": "a", "kl": draw.one_of(0.5, None, "x", 2**63)}]),
                   "samples": draw.one_of(6, -1, 2**63 - 1, "6"), "delta": draw.one_of(0.1, 2, None)}  # fmt: skip
        charge.write_text(json.dumps(some_of(draw, content, 0.9)) if draw.random.random() < 0.9 else "{" * 100_000)
        values = draw.array(6, 3)
        try:
            np.save(losses, values, allow_pickle=True)
        except (ValueError, TypeError):
            losses.write_bytes(b"no array")
        options = {"guarantee": draw.one_of("pac-bayes", "hold-out", "hold-out-means", draw.text()), "hold_out": draw.one_of(range(6), range(-3, 3), range(2**62, 2**63), 3),
                   "first_step": draw.whole(), "metric": draw.text(), "candidates": draw.whole(), "prior_means": draw.whole(), "calibration_share": draw.real(),
                   "family": draw.text(), "family_seed": draw.whole(), "tolerances": [draw.real()]}  # fmt: skip
        return surefoot.certify_charged(losses, charge, **some_of(draw, options))


def compare_paired(draw):
    options = {"names": draw.one_of(("a", "b"), ("a",), draw.text(), (draw.text(), "b")), "claims": draw.one_of(["below 0.5 after 2"], [draw.text()], "below", ["above 1"]),
               "tolerances": draw.one_of([0.5], [draw.real()], draw.array(2)), "shares": draw.one_of([0.5], [draw.real()], []), "confidence": draw.real(), "allow": draw.real(),
               "steps": draw.one_of([1, 2, 3], [draw.whole()], [3, 2, 1]), "metric": draw.text(), "anytime": draw.one_of(True, 3), "scalar": draw.one_of(True, "x")}  # fmt: skip
    return surefoot.compare_paired(draw.array(6, 3), draw.one_of(draw.array(6, 3), None), **some_of(draw, options))


CERTIFIED = []


def tolerate(draw):
    if not CERTIFIED:
        CERTIFIED.append(surefoot.certify(np.random.default_rng(1).random((50, 3)), tolerances=[0.5]))
    options = {"claim": draw.one_of("below 0.5 after 2", draw.text()), "variant": draw.one_of("traces", draw.text())}
    return CERTIFIED[0].tolerate(draw.one_of(0.1, draw.real(), draw.whole(), draw.text()), **some_of(draw, options))


@pytest.mark.parametrize(
    "make",
    [qp_family, cone_family, posterior, certify, bound, certificate, closed_loop, tune, count, tally, charged, compare_paired, tolerate],
    ids=lambda make: make.__name__,
)
@pytest.mark.filterwarnings("ignore")  # of NumPy, about the numbers
def test_random_arguments_give_a_result_or_one_line(make):
    results, refusals = 0, 0
    for seed in range(ROUNDS):
        try:
            make(Draw(seed))
            results += 1
        except EXPECTED as error:
            message = str(error)
            assert "\n" not in message, f"seed {seed}: {type(error).__name__}: {message[:500]!r}"
            assert "internal" not in message, f"seed {seed}: {message[:500]!r}"
            refusals += 1
        except (AttributeError, KeyError, IndexError, AssertionError, SystemError, RuntimeError) as error:
            pytest.fail(f"seed {seed}: {type(error).__name__}: {str(error)[:500]!r}")
    assert refusals > ROUNDS / 10, (results, refusals)
