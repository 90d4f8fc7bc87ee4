"""How good is your optimizer's answer after k steps, on a problem it has not seen? With a guarantee.

A table of any solver's results, a row per problem and a column per step, is enough:

>>> import numpy as np, surefoot
>>> residuals = 0.8 ** np.arange(1, 61) * np.random.default_rng(0).uniform(0.1, 1, (1000, 1))
>>> certificate = surefoot.certify(residuals, metric="residual", tolerances=[1e-3])
>>> certificate.budget(tolerance=1e-3, quantile=0.99).steps
31
>>> bool(certificate.verify())
True
"""

from . import _kernels

_kernels.load_asked()  # before anything loads the extension module

from . import bounds, number_text, pac_bayes, solvers, worst_case
from ._core import InputError, kernels, set_threads, startable_kernels, threads
from ._core import version as __version__
from .calibration import Observed, calibrate, validate
from .certificate import (
    Answer,
    AverageClaim,
    BudgetClaim,
    Certificate,
    Claim,
    MeanClaim,
    OtherClaim,
    QuantileClaim,
    SequenceClaim,
    SuccessClaim,
    SurvivedShift,
    Verification,
    load,
)
from .certification import RunUntil, Traces, certify, count, run_until, sha256_of
from .charges import Charge, certify_charged
from .closed_loops import Rollouts, closed_loop
from .cvxpy_problems import from_cvxpy
from .families import ConeFamily, QPFamily, Terminations
from .family_work import FamilyTuned, LearnedStart
from .monitor import Alarm, ClaimAlarm, Monitor
from .pairs import Comparison, PairedComparison, Ranking, compare, compare_paired, rank
from .tallies import Tally
from .tuning import Tried, Tuned, tune

_kernels.check_asked(kernels, startable_kernels)
del startable_kernels

__all__ = [
    "Alarm",
    "Answer",
    "AverageClaim",
    "BudgetClaim",
    "Certificate",
    "Charge",
    "Claim",
    "ClaimAlarm",
    "Comparison",
    "ConeFamily",
    "FamilyTuned",
    "InputError",
    "LearnedStart",
    "Monitor",
    "Observed",
    "MeanClaim",
    "OtherClaim",
    "PairedComparison",
    "QPFamily",
    "QuantileClaim",
    "Ranking",
    "Rollouts",
    "RunUntil",
    "SequenceClaim",
    "SuccessClaim",
    "SurvivedShift",
    "Tally",
    "Terminations",
    "Traces",
    "Tried",
    "Tuned",
    "Verification",
    "__version__",
    "bounds",
    "calibrate",
    "certify",
    "certify_charged",
    "closed_loop",
    "compare",
    "compare_paired",
    "count",
    "from_cvxpy",
    "kernels",
    "load",
    "number_text",
    "pac_bayes",
    "rank",
    "run_until",
    "set_threads",
    "sha256_of",
    "solvers",
    "threads",
    "tune",
    "validate",
    "worst_case",
]
