# SPDX-License-Identifier: Apache-2.0
"""The editing verbs on models far beyond the memory that they are given: the files of bench/format.py."""

import importlib.util
import time

import pytest
from program import ROOT, run

spec = importlib.util.spec_from_file_location("bench_format", ROOT / "bench/format.py")
bench = importlib.util.module_from_spec(spec)
spec.loader.exec_module(bench)

KINDS = {"external": (bench.with_data_file, "w3"), "single": (bench.single_file, "small")}


@pytest.mark.parametrize("kind", KINDS)
def test_verbs_stay_under_their_memory(tmp_path, kind):
    make, tensor = KINDS[kind]
    path, out = tmp_path / "m.onnx", tmp_path / "out"
    make(path)
    for name, words in bench.verbs(path, out, tensor):
        out.mkdir(exist_ok=True)
        status, most, error = bench.watched(words)
        assert (status, most < bench.LIMIT) == (0, True), (name, most, error)
        for file in out.iterdir():
            if file.name != "one.npy":
                file.unlink()


def test_in_place_is_quick(tmp_path):
    path = tmp_path / "m.onnx"
    bench.single_file(path)
    best = 1.0
    for words in ("x=z", "z=x") * 3:
        start = time.perf_counter()
        said = run("rename", path, "--value", words, "--in-place")[1]
        best = min(best, time.perf_counter() - start)
        assert "changed" in said and "in place" in said
    assert best < 0.3  # milliseconds on a quiet machine; a copy of 5 GB would take seconds
