"""Samples counted in parts give the certificate of one process, and no sample counts twice."""

import itertools
import os
import pickle
import random
import signal
import time

import numpy as np
import pytest
import surefoot

TRACES = np.random.default_rng(5).exponential(0.8 ** np.arange(30), (2400, 30))
DECLARED = {"tolerances": [1e-2], "metric": "residual"}
SOURCE = {"source": "array", "sha256": surefoot.sha256_of(TRACES)}


def parts_of(traces, size, **given):
    return [surefoot.count(traces[i : i + size], first_row=i, **given, **DECLARED) for i in range(0, len(traces), size)]


def test_merged_in_any_order_is_one_process():
    whole = surefoot.certify(TRACES, **DECLARED)
    parts = parts_of(TRACES, 370, **SOURCE)
    for seed in range(5):
        random.Random(seed).shuffle(parts)
        tally = parts[0].merge(*parts[1:])
        assert surefoot.certify(tally).to_json() == whole.to_json()
    pairs = parts[0].merge(parts[1]).merge(parts[2].merge(*parts[3:]))
    assert pairs == tally and hash(pairs) == hash(tally)
    assert surefoot.certify(tally).verify(TRACES)


def test_default_quantiles_are_those_of_all_samples():
    # 99 % is not supported by a part, and is by all of them.
    part = surefoot.certify(TRACES[:120], **DECLARED)
    whole = surefoot.certify(TRACES, **DECLARED)
    assert len(part.to_json()) != len(whole.to_json())
    parts = parts_of(TRACES, 120, **SOURCE)
    assert surefoot.certify(parts[0].merge(*parts[1:])).to_json() == whole.to_json()


def test_several_variants(tmp_path):
    both = {"cold": TRACES, "warm": TRACES[:, 5:] / 2}
    whole = surefoot.count(both, source="seeds", **DECLARED)
    parts = [
        surefoot.count({name: rows[i : i + 800] for name, rows in both.items()}, source="seeds", first_row=i, **DECLARED)
        for i in (1600, 0, 800)
    ]
    assert surefoot.certify(parts[0].merge(*parts[1:])).to_json() == surefoot.certify(whole).to_json()


def test_pickles_and_files(tmp_path):
    tally = parts_of(TRACES, 600, **SOURCE)[1]
    assert pickle.loads(pickle.dumps(tally)) == tally
    tally.write(tmp_path / "a.tally")
    assert surefoot.Tally.read(tmp_path / "a.tally") == tally
    content = bytearray(tally.to_bytes())
    content[200] ^= 1
    with pytest.raises(surefoot.InputError, match="is damaged"):
        surefoot.Tally.of_bytes(bytes(content))
    with pytest.raises(surefoot.InputError, match="is not a tally"):
        surefoot.Tally.of_bytes(b"1,2,3")
    with pytest.raises(TypeError, match="surefoot.count"):
        surefoot.Tally()


def test_program_and_package_count_alike(tmp_path, surefoot_program):
    np.save(tmp_path / "whole.npy", TRACES)
    digest = surefoot.sha256_of(tmp_path / "whole.npy")
    assert digest == surefoot.sha256_of(TRACES)
    names = []
    for i in range(0, 2400, 800):
        np.save(tmp_path / f"{i}.npy", TRACES[i : i + 800])
        surefoot_program("certify", f"{i}.npy", "--tally", f"{i}.tally", "--source", "whole.npy", "--source-sha256", digest,
                         "--first-row", i, "--tolerances", "1e-2", "--metric", "residual")
        names.append(f"{i}.tally")
    given = {"source": "whole.npy", "sha256": digest, "first_row": 800, **DECLARED}
    assert surefoot.count(tmp_path / "800.npy", **given) == surefoot.Tally.read(tmp_path / "800.tally")
    declared = ["--tolerances", "1e-2", "--metric", "residual"]
    whole = surefoot_program("certify", "whole.npy", "--json", "--out", "one", *declared)
    assert surefoot_program("certify", *reversed(names), "--json", "--out", "many") == whole
    surefoot_program("verify", "many/certificate.json", "--data", "whole.npy")
    # Parts that are files of their own: in the order of their names, whatever the order of the tallies.
    for name in names:
        surefoot_program("certify", name.replace("tally", "npy"), "--tally", name, *declared)
    texts = {surefoot_program("certify", *order, "--json", "--out", "own") for order in itertools.permutations(names)}
    assert len(texts) == 1
    surefoot_program("verify", "own/certificate.json", "--data", "0.npy", "1600.npy", "800.npy")


def test_refusals():
    a, b = parts_of(TRACES, 1200, **SOURCE)
    with pytest.raises(surefoot.InputError, match="rows 0 .. 1199 of array are counted already"):
        a.merge(b, a)
    with pytest.raises(surefoot.InputError, match="metric is 'gap' and not 'residual'"):
        a.merge(surefoot.count(TRACES[1200:], first_row=1200, **SOURCE, tolerances=[1e-2], metric="gap"))
    with pytest.raises(surefoot.InputError, match="rows 0 .. 1199 of array are not counted"):
        surefoot.certify(b)
    alone = surefoot.count(TRACES, **DECLARED)
    assert surefoot.certify(alone).to_json() == surefoot.certify(TRACES, **DECLARED).to_json()
    with pytest.raises(surefoot.InputError, match="does not say which samples"):
        alone.merge(a)
    with pytest.raises(ValueError, match="tolerances: a tally has declared"):
        surefoot.certify(a, tolerances=[1.0])
    with pytest.raises(ValueError, match="first_row: is of a source"):
        surefoot.count(TRACES, first_row=5)
    for outside in (-5, 10**15, 2**63 - 8):
        with pytest.raises(ValueError, match="first_row: rows .* are not all in 0 .. 1000000000000000"):
            surefoot.count(TRACES, source="seeds", first_row=outside)
    with pytest.raises(TypeError, match="bytes-like"):
        surefoot.Tally.of_bytes(2**40)
    with pytest.raises(surefoot.InputError, match="sha256: 'abc' is not 64"):
        surefoot.count(TRACES, source="x", sha256="abc")
    with pytest.raises(TypeError, match="a column per step"):
        surefoot.count(TRACES[:, 0])
    with pytest.raises(ValueError, match="a group could be in two parts"):
        surefoot.count(TRACES.reshape(24, 100, 30))
    with pytest.raises(TypeError, match="no surefoot.Tally"):
        a.merge("b")


def test_a_generator_that_repeats_is_seen():
    same = [surefoot.count(TRACES[:300], source="seeds", first_row=i, **DECLARED) for i in (0, 300)]
    with pytest.raises(surefoot.InputError, match="seeds: the rows .* 300 of 600 rows repeat"):
        surefoot.certify(same[0].merge(same[1]))
    tally = same[0].merge(same[1])
    assert "f the rows were independent" in surefoot.certify(tally, allow_dependence=True).statements[0]


@pytest.mark.filterwarnings("ignore")
def test_dask_cluster_that_loses_a_worker(tmp_path):
    distributed = pytest.importorskip("distributed")
    begun = tmp_path / "begun"
    begun.mkdir()

    def count_seeds(first, count, begun, slow):  # in a worker
        import os
        import time

        import numpy as np
        import surefoot

        (begun / f"{first}-{os.getpid()}").touch()
        if slow and len(list(begun.glob(f"{first}-*"))) == 1:
            time.sleep(60)  # until it is killed
        rows = [np.random.default_rng(seed).exponential(0.8 ** np.arange(30)) for seed in range(first, first + count)]
        return surefoot.count(np.array(rows), source="default_rng", first_row=first, tolerances=[1e-2])

    with distributed.LocalCluster(n_workers=3, threads_per_worker=1, processes=True, dashboard_address=None) as cluster:
        with distributed.Client(cluster) as client:
            firsts = range(0, 1200, 100)
            parts = [client.submit(count_seeds, first, 100, begun, first == 500, pure=False) for first in firsts]
            deadline = time.monotonic() + 60
            while not (killed := list(begun.glob("500-*"))) and time.monotonic() < deadline:
                time.sleep(0.05)
            os.kill(int(killed[0].name.partition("-")[2]), signal.SIGKILL)
            while len(parts) > 1:  # merged in the cluster, two at a time
                pairs = zip(parts[::2], parts[1::2])
                parts = [client.submit(surefoot.Tally.merge, a, b, pure=False) for a, b in pairs] + parts[len(parts) // 2 * 2 :]
            tally = parts[0].result(timeout=120)
    assert len(list(begun.glob("500-*"))) == 2  # it was done again, in another process
    whole = surefoot.count(
        np.array([np.random.default_rng(seed).exponential(0.8 ** np.arange(30)) for seed in range(1200)]),
        source="default_rng",
        tolerances=[1e-2],
    )
    assert tally.samples == 1200
    assert surefoot.certify(tally).to_json() == surefoot.certify(whole).to_json()
