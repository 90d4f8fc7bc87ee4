"""What the benchmarks against the packages of solvers share: repeats that alternate, the smallest of each, one line per preset."""

import json
import time


def report(presets, package_seconds, engine, count, iterations, repeats):
    """package_seconds(iterations, settings): seconds and iterations in all; engine(settings) runs ours."""
    for name, (theirs, ours) in presets.items():
        package, own = [], []
        for _ in range(repeats):
            one, _ = package_seconds(1, theirs)
            seconds, steps = package_seconds(iterations, theirs)
            package.append(seconds - one)
            begin = time.process_time()
            engine(ours)
            own.append(time.process_time() - begin)
        stopped = "stop" in ours.get("settings", {})
        per = count if stopped else count * iterations
        print(json.dumps({
            "preset": name, "instances": count, "iterations": iterations, "iterations of the package": round(steps / count, 1),
            "unit": "us per instance" if stopped else "us per instance and iteration",
            "package": round(1e6 * min(package) / per, 4), "engine": round(1e6 * min(own) / per, 4),
            "times": round(min(package) / min(own), 2),
        }))
