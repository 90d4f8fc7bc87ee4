"""A learned optimizer with 84 million weights, trained on a GPU where there is one, and certified on any machine.

    PYTHONPATH=python/src python3 examples/python/large_learned.py --out large      # PyTorch and NumPy alone
    python3 examples/python/large_learned.py --certify large                        # Surefoot alone, weights not needed

Ten layers of LISTA with coupled weights recover sparse codes of 4096 entries from 2048 measurements,

    z+ = soft(z + exp(g_k) W_k' (b - D z), exp(t_k)),

each W_k a matrix of its own, 2048 x 4096. They begin as ALISTA (W solves min ||W' D||_F, w_i' d_i = 1), are trained on a stream
of fresh samples, which makes the prior mean, and then on N other samples on the PAC-Bayes bound. What is brought back is small:
the losses of the counted runs and charge.json (KL divergence, prior, digests). `--small` does the same in seconds on a CPU.
"""

import argparse
import json
import math
import pathlib
import platform
import time

import numpy as np

LARGE = {"measurements": 2048, "variables": 4096, "layers": 10, "samples": 40000, "hold_out": 20000, "batch": 1024,
         "epochs": 40, "steps": 1000, "bound_epochs": 4, "minutes": 3.5, "rate": 3e-4}  # fmt: skip
SMALL = {"measurements": 48, "variables": 96, "layers": 5, "samples": 2000, "hold_out": 2000, "batch": 64,
         "epochs": 4, "steps": 100, "bound_epochs": 3, "minutes": 1.0, "rate": 1e-3}  # fmt: skip
DENSITY, NOISE = 0.1, 0.01
TOLERANCES = [-50.0, -40.0, -30.0, -20.0, -10.0]


def train(size, out, seed):
    import surefoot_fit
    import torch

    torch.backends.cuda.matmul.allow_tf32 = True  # for training; what is counted runs in single precision
    device = "cuda" if torch.cuda.is_available() else "cpu"
    m, n = size["measurements"], size["variables"]
    began = time.monotonic()

    def said(text):
        print(f"{time.monotonic() - began:6.1f} s  {text}", flush=True)

    def generator(*purpose):
        text = "large_learned", *map(str, purpose)
        bits = np.random.SeedSequence(list("/".join(text).encode())).generate_state(2, np.uint32)
        return torch.Generator(device=device).manual_seed((int(bits[0]) << 31) ^ int(bits[1]))

    D = torch.tensor(np.random.default_rng(seed).normal(size=(m, n)), device=device)
    D /= D.norm(dim=0)
    W = torch.linalg.solve(D @ D.T, D)
    W /= (W * D).sum(dim=0)
    D, W = D.float(), W.float()

    def draw(count, *purpose):
        """Codes z and measurements b: samples of a set are a function of seed, set and block of 1000."""
        blocks = []
        for first in range(0, count, 1000):
            random = generator(seed, *purpose, first)
            shape = (min(1000, count - first), n)
            z = torch.randn(shape, generator=random, device=device)
            kept = torch.rand(shape, generator=random, device=device) < DENSITY
            kept[:, 0] |= ~kept.any(dim=1)  # no code is empty
            z *= kept
            b = z @ D.T
            deviation = NOISE * z.std(dim=1, keepdim=True)
            b += deviation * torch.randn(b.shape, generator=random, device=device)
            blocks.append((b, z))
        return tuple(torch.cat(parts) for parts in zip(*blocks))

    def decibels(z, code):
        return 10 * (((z - code) ** 2).sum(dim=1) / (code**2).sum(dim=1)).log10()

    class Lista(torch.nn.Module):
        def __init__(self):
            super().__init__()
            layers = size["layers"]
            # Entries of order 1, so that one rate suits all.
            self.W = torch.nn.ParameterList(torch.nn.Parameter(W * math.sqrt(m)) for _ in range(layers))
            self.g = torch.nn.Parameter(torch.zeros(layers, device=device))
            self.t = torch.nn.Parameter(torch.log(0.6 * 0.7 ** torch.arange(layers, device=device)))

        def forward(self, b, code):
            z, losses = torch.zeros_like(code), []
            for k, W_k in enumerate(self.W):
                z = z + (self.g[k].exp() / math.sqrt(m)) * ((b - z @ D.T) @ W_k)
                z = z.sign() * (z.abs() - self.t[k].exp()).relu()
                losses.append(decibels(z, code))
            return torch.stack(losses, dim=1)

    def fista(b, code, steps):
        step = 1 / float(torch.linalg.matrix_norm(D.double(), 2) ** 2)
        z = y = torch.zeros_like(code)
        momentum, losses = 1.0, []
        for _ in range(steps):
            old, z = z, y + step * ((b - y @ D.T) @ D)
            z = z.sign() * (z.abs() - 0.1 * step).relu()
            momentum, before = 0.5 * (1 + math.sqrt(1 + 4 * momentum**2)), momentum
            y = z + (before - 1) / momentum * (z - old)
            losses.append(decibels(z, code))
        return torch.stack(losses, dim=1)

    network = Lista()
    weights = sum(p.numel() for p in network.parameters())
    said(f"{weights:,} weights, {m} x {n}, {size['layers']} layers, on {device}")
    fresh = draw(2000, "validation")
    with torch.no_grad():
        results = {
            "ALISTA, not trained": network(*fresh)[:, -1].median().item(),
            "FISTA, as many steps": fista(*fresh, size["layers"])[:, -1].median().item(),
            "FISTA, 100 steps": fista(*fresh, 100)[:, -1].median().item(),
        }
    said(f"median NMSE in dB: {results}")
    before = time.monotonic()
    used, rate = 0, size["rate"]
    while not used:
        try:
            used = surefoot_fit.pretrain(
                network, lambda step: draw(size["batch"], "prior", step), scale="linear", epochs=size["epochs"],
                steps=size["steps"], rate=rate, seconds=60 * size["minutes"], report=said,
            )  # fmt: skip
        except surefoot_fit.Diverged as error:
            rate /= 4
            said(f"{error}; once more with {rate:g}")
            network = Lista()
    seconds = {"prior": time.monotonic() - before}
    with torch.no_grad():
        results["trained, at the means of the prior"] = network(*fresh)[:, -1].median().item()
        # A declared number: from validation samples, before any that counts.
        tolerance = math.ceil(network(*fresh)[:, -1].quantile(0.95).item())
    said(f"median NMSE in dB: {results}; trained for {tolerance} dB")

    samples = draw(size["samples"], "bound")
    before = time.monotonic()
    fitted = surefoot_fit.fit(
        network, samples, tolerance=tolerance, scale="linear", width=1.0, epochs=size["bound_epochs"],
        batch=size["batch"] // 4, draws=4, rate=0.1, variance_rate=0.02, log_variance=-10.0, variances="blocks",
        prior_samples=used, report=said,
    )  # fmt: skip
    seconds["bound"] = time.monotonic() - before
    torch.backends.cuda.matmul.allow_tf32 = False

    def runs(data, name, **how):
        before = time.monotonic()
        losses = fitted.losses(data, seed=seed, batch=size["batch"], **how)
        seconds[name] = time.monotonic() - before
        np.save(out / f"{name}.npy", losses)
        said(f"{name}: median {np.median(losses[:, -1]):.2f} dB, share below {tolerance} dB {np.mean(losses[:, -1] < tolerance):.4f}")

    def write_charge():
        before = time.monotonic()
        fitted.write_charge(
            out / "charge.json", out / "losses.npy", seed=seed, metric="NMSE", unit="dB", tolerances=TOLERANCES,
            trained_for=tolerance, layers=size["layers"], hold_out=size["hold_out"], family_seed=seed,
            family=f"large sparse codes(measurements={m}, variables={n}, density={DENSITY}, noise={NOISE}, drawn by PyTorch "
                   f"on {device})",
        )  # fmt: skip
        seconds["digests"] = time.monotonic() - before

    runs(samples, "losses")
    write_charge()
    hold_out = draw(size["hold_out"], "hold-out")
    runs(hold_out, "hold_out_drawn", purpose="hold-out weights, drawn by PyTorch")
    runs(hold_out, "hold_out_means", at_means=True)
    # What the weights would cost if ALISTA's matrix, known before any sample, were the prior mean.
    alista, from_alista = dict(Lista().named_parameters()), 0.0
    for name, mean in fitted.mean.items():
        moved = float(((mean - alista[name].detach()) ** 2).mean(dtype=torch.float64))
        from_alista += 0.5 * mean.numel() * math.log1p(moved * math.exp(-fitted.prior_log_variance[name]))
    gpu = torch.cuda.get_device_name() if device == "cuda" else platform.processor() or platform.machine()
    summary = {
        "weights": weights, "rate": rate, "kl_from_ALISTA": from_alista, "prior_samples": used, "kl": fitted.kl(), "B": fitted.regularizer(), "median_dB": results,
        "seconds": {name: round(value, 1) for name, value in seconds.items()}, "device": gpu,
        "torch": torch.__version__, "history": fitted.history,
    }  # fmt: skip
    if device == "cuda":
        summary["device_memory_GiB"] = round(torch.cuda.max_memory_allocated() / 2**30, 1)
    (out / "training.json").write_text(json.dumps(summary, indent=1) + "\n")
    said(f"KL {summary['kl']:.2f}, B {summary['B']:.5f}; seconds {summary['seconds']}")


def certify(folder):
    """What the files promise, by a split prior and by hold-out. Needs neither PyTorch nor the weights."""
    import surefoot

    charge = surefoot.Charge.read(folder / "charge.json")
    about = charge.about
    last, trained_for = about["layers"], about["trained_for"]
    options = {
        "metric": about["metric"], "unit": about["unit"], "name": "learned", "family": about["family"],
        "family_seed": about["family_seed"], "tolerances": sorted({*about["tolerances"], trained_for}),
        "quantiles": [0.5, 0.9], "steps": [last], "claims": ["success", "quantile"], "confidence": 0.99,
    }  # fmt: skip
    fresh = range(about["hold_out"])
    ways = {
        "split prior": ("losses.npy", {"guarantee": "pac-bayes"}),
        "hold-out, drawn": ("hold_out_drawn.npy", {"guarantee": "hold-out", "hold_out": fresh}),
        "hold-out, means": ("hold_out_means.npy", {"guarantee": "hold-out-means", "hold_out": fresh}),
    }
    print(f"{charge.content['weights']['count']:,} weights, KL {charge.kl():.2f}; {charge.content['prior']['sha256'][:12]} is the prior")
    print(f"{'guarantee':<16} {'runs':>7}  {'below':>7}  {'observed':>8}  {'promised':>8}  {'median':>8}  {'90 %':>8}")
    for name, (losses, how) in ways.items():
        certificate = surefoot.certify_charged(folder / losses, charge, **how, **options)
        claim = certificate.success(last, trained_for)
        half, most = (certificate.quantile(last, share) for share in (0.5, 0.9))
        print(f"{name:<16} {claim.samples:>7}  {trained_for:>4} dB  {100 * claim.empirical:>6.2f} %  {100 * claim.lower_bound:>6.2f} %"
              f"  {half.upper_bound:>5.1f} dB  {most.upper_bound:>5.1f} dB")  # fmt: skip
        certificate.save(folder / f"{how['guarantee']}.json")
        print("verified" if certificate.verify() else "NOT VERIFIED")
    print("Each certificate alone has confidence 0.99. The weights were not read: digests, KL divergence and losses are as the training machine states them.")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--certify", type=pathlib.Path, metavar="FOLDER", help="certify the results in a folder")
    parser.add_argument("--out", type=pathlib.Path, default=pathlib.Path("large"), help="folder for the results")
    parser.add_argument("--small", action="store_true", help="96 entries, 23,000 weights: seconds on a CPU")
    parser.add_argument("--minutes", type=float, help="of training the prior mean, at most")
    parser.add_argument("--samples", type=int, help="N, of the bound")
    parser.add_argument("--hold-out", type=int, help="fresh samples")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    if options.certify is not None:
        certify(options.certify)
        return
    size = dict(SMALL if options.small else LARGE)
    for name in ("minutes", "samples", "hold_out"):
        if getattr(options, name) is not None:
            size[name] = getattr(options, name)
    options.out.mkdir(parents=True, exist_ok=True)
    train(size, options.out, options.seed)


if __name__ == "__main__":
    main()
