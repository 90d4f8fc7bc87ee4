"""Reading a certificate: what it says, whether it is true to its counts, and its numbers as tables and curves.

    pip install '.[table,plot]' && python examples/python/read_certificate.py [certificate.json]

Without an argument it first makes one from the traces of examples/traces.
"""

import pathlib
import sys
import tempfile

import surefoot

TRACES = pathlib.Path(__file__).resolve().parents[1] / "traces"


def main():
    with tempfile.TemporaryDirectory() as folder:
        if len(sys.argv) > 1:
            path = pathlib.Path(sys.argv[1])
        else:
            path = pathlib.Path(folder) / "certificate.json"
            files = {"cold": TRACES / "osqp_mpc_cold.csv.gz", "warm": TRACES / "osqp_mpc_warm.csv.gz"}
            surefoot.certify(files, metric="residual").save(path)
        certificate = surefoot.load(path)

        check = certificate.verify()
        print("verified" if check else "NOT VERIFIED", f"({check.claims_that_hold} of {check.claims} claims)")
        print(f"{certificate!r} about the {certificate.metric} of {', '.join(certificate.variants)}")
        print("It rests on this:", *certificate.assumptions[:2], sep="\n  ")

        strongest = [c for c in certificate.claims if isinstance(c, surefoot.SuccessClaim) and c.lower_bound >= 0.9]
        print(f"{len(strongest)} success rates of at least 90 % are certified; the first of them:")
        print(" ", strongest[0] if strongest else "none")

        table = certificate.table("budget")
        print(table[["variant", "tolerance", "quantile", "steps"]] if hasattr(table, "columns") else table)
        try:
            figure = certificate.plot("success")[0].figure
        except ImportError as missing:
            print(missing)
        else:
            figure.savefig(pathlib.Path(folder) / "success.png")
            print("drawn")


if __name__ == "__main__":
    main()
