"""Train a PyTorch module on a PAC-Bayes bound. Needs PyTorch and NumPy alone: no compiled extension.

    fitted = surefoot_fit.fit(module, data, tolerance=1e-2)
    np.save("losses.npy", fitted.losses(data))
    fitted.write_charge("charge.json", "losses.npy")

`module(*batch)` returns the metric of every sample of a batch: a number, or one per step; smaller is better. `data` is a tensor, or
a tuple of them, with an entry per sample. Where Surefoot is installed, :mod:`surefoot.torch` has the same names. On a machine
without it, this folder is all that is needed; the two files are certified elsewhere (``surefoot.certify_charged``).

`SoftThresholding` is a ready-made module: learned layers for a dictionary of your own.

Nothing here is rounded outward but the KL divergence of a charge, which is what certificates use.
"""

from .bound import kl_inverse, regularizer
from .codes import SoftThresholding, alista_matrix, draw_codes
from .fitted import HOLD_OUT_PURPOSE, Fitted
from .fitting import Diverged, fit, pretrain

__all__ = [
    "Diverged",
    "Fitted",
    "HOLD_OUT_PURPOSE",
    "SoftThresholding",
    "alista_matrix",
    "draw_codes",
    "fit",
    "kl_inverse",
    "pretrain",
    "regularizer",
]
