# SPDX-License-Identifier: Apache-2.0
"""Graphs of many nodes: a load whose time grows with the square of their number takes minutes here."""

import time

import graph_sizes
import numpy as np
import pytest

import sardonyx

NODES = 50_000
SECONDS = 60  # some ten times what it takes on a quiet machine; with the square of the number it took minutes


@pytest.mark.parametrize("kind", ["chain", "branches", "fan_out", "identities", "outputs", "calls"])
def test_load_and_run_of_a_large_graph_is_linear(kind, tmp_path):
    path = tmp_path / "large.onnx"
    graph_sizes.make(kind, NODES, path)
    start = time.perf_counter()
    session = sardonyx.InferenceSession(str(path))
    feeds = graph_sizes.feeds_of(session)
    got = session.run(None, feeds)
    assert time.perf_counter() - start < SECONDS
    assert all(np.isfinite(y).all() for y in got)


@pytest.mark.parametrize("kind", sorted(graph_sizes.KINDS))
def test_every_kind_gives_what_onnxruntime_gives(kind, tmp_path):
    import onnxruntime

    path = tmp_path / "small.onnx"
    graph_sizes.make(kind, 300, path)
    ours = sardonyx.InferenceSession(str(path))
    theirs = onnxruntime.InferenceSession(str(path), providers=["CPUExecutionProvider"])
    feeds = graph_sizes.feeds_of(ours)
    for a, b in zip(ours.run(None, feeds), theirs.run(None, feeds), strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-4, atol=1e-5)
