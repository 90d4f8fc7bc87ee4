#!/usr/bin/env bash
# How the certificates in this folder were made, with the program of commit 8045065 (version 0.1.0), the last one that wrote
# format 1. They are kept as they are: every later program must verify them.
#   make.sh PROGRAM_OF_THAT_COMMIT EXAMPLES_FOLDER
set -euo pipefail
program=$1
examples=$2
cd "$(dirname "$0")"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

keep() { cp "$work/$1/certificate.json" "$2.json"; }
python3 - <<'PYTHON'
import random
random.seed(1)
for name, rate in (("cold", 0.55), ("warm", 0.4)):
    with open(name + ".csv", "w") as table:
        table.write(",".join(f"k={k}" for k in (1, 2, 3, 5, 8)) + "\n")
        for _ in range(120):
            start, own = 10 ** random.uniform(-1, 1), rate * random.uniform(0.6, 1.3)
            table.write(",".join(f"{start * own ** k:.9g}" for k in (1, 2, 3, 5, 8)) + "\n")
        table.write("1.5,nan,nan,nan,nan\n")
PYTHON
certify() { "$program" certify "$@" --metric residual >/dev/null; }
few="--tolerances 1e-2,1e-1 --quantiles 0.5,0.9"
certify cold.csv $few --out "$work/a"; keep a table
certify cold.csv warm.csv $few --names "cold start,warm start" --simultaneous each --out "$work/b"; keep b two_tables_each
certify cold.csv $few --quantile-method grid --risk-method kl --budget-method first-hit --out "$work/c"; keep c grid_kl_first_hit
certify cold.csv $few --budget-method every-step --risk-method pinsker --out "$work/d"; keep d every_step_pinsker
certify cold.csv $few --budget-method paper --quantile-method grid --out "$work/e"; keep e paper_budget
certify cold.csv --unit dB --steps 2,8 --claims success,quantile --out "$work/f"; keep f decibels
"$program" run qp "$examples/mpc" --iterations 30 --steps 10,30 --quantiles 0.5,0.9 --metric nmse --tolerances=-20,-10 --out "$work/g" >/dev/null; keep g run_qp
"$program" run cone "$examples/portfolio" --iterations 40 --steps 20,40 $few --out "$work/h" >/dev/null; keep h run_cone
cat >"$work/train.toml" <<'TOML'
model = "alista"
[family]
measurements = 24
variables = 48
samples = 1000
[network]
steps = 3
[[stage]]
noise = false
epochs = 4
batch = 32
mean_rate = 2e-2
surrogate = "logarithm"
[[stage]]
epochs = 4
log_variance = -10
variance_rate = 1e-2
prior = "closed-form"
penalty = "none"
surrogate = "tolerance"
tolerance = -8
width = 4
TOML
sed 's/^samples = 1000/samples = 800\nfirst = 1000/' "$work/train.toml" >"$work/prior.toml"
"$program" train "$work/train.toml" --quiet --out "$work/w" >/dev/null
"$program" train "$work/prior.toml" --quiet --out "$work/p" >/dev/null
cp "$work/w/weights.safetensors" weights.safetensors
"$program" calibrate weights.safetensors --hold-out-samples 300 --tolerances -10,-5 --quantiles 0.5,0.9 --out "$work/k" >/dev/null
for kind in pac-bayes pac-bayes-paper hold-out hold-out-means; do keep "k/$kind" "${kind//-/_}"; done
sed 's/^steps = 3/steps = 3\n[posterior]\nprior = "p\/weights.safetensors"/' "$work/train.toml" >"$work/split.toml"
"$program" train "$work/split.toml" --quiet --out "$work/q" >/dev/null
"$program" calibrate "$work/q/weights.safetensors" --prior "$work/p/weights.safetensors" --guarantees pac-bayes --tolerances -10,-5 --quantiles 0.5,0.9 --out "$work/s" >/dev/null
keep s/pac-bayes split_prior
"$program" reproduce robust-kalman --samples 20 --steps 60 --out "$work/r" >/dev/null
cp "$(find "$work/r" -name certificate.json | sort | head -1)" robust_kalman.json
