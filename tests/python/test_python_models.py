# SPDX-License-Identifier: Apache-2.0
"""Every stand-in model through both packages with the same lines of code."""

from pathlib import Path

import cases
import onnxruntime
import pytest
from python_testing import ROOT, assert_same

import sardonyx

FOUND = cases.find([ROOT / "models" / "digits", ROOT / "build" / "test_models"])
RUNNABLE = [case for case in FOUND if case.name != "unsupported"]
assert len(RUNNABLE) > 10, "the stand-in models are not built: run tests/models/build.py"


@pytest.mark.parametrize("case", RUNNABLE, ids=lambda case: case.name)
@pytest.mark.parametrize("from_bytes", [False, True], ids=["path", "bytes"])
def test_like_onnxruntime(case, from_bytes):
    if not case.feeds:
        cases.fill(case, {})
    source = Path(case.model).read_bytes() if from_bytes else case.model
    ours, theirs = (
        package.InferenceSession(source, package.SessionOptions(), providers=["CPUExecutionProvider"])
        for package in (sardonyx, onnxruntime)
    )
    for a, b in ((ours.get_inputs(), theirs.get_inputs()), (ours.get_outputs(), theirs.get_outputs())):
        assert [(v.name, v.type) for v in a] == [(v.name, v.type) for v in b]
    assert [v.shape for v in ours.get_inputs()] == [v.shape for v in theirs.get_inputs()]
    assert ours.get_providers() == theirs.get_providers()
    for feed in case.feeds:
        expected = theirs.run(None, feed)
        assert_same(ours.run(None, feed), expected)
        name = theirs.get_outputs()[-1].name
        assert_same(ours.run([name], feed), expected[-1:])


@pytest.mark.parametrize("case", RUNNABLE, ids=lambda case: case.name)
def test_as_it_is_written(case):
    """With the rules off, and on the operators' own definitions alone."""
    if not case.feeds:
        cases.fill(case, {})
    options = sardonyx.SessionOptions()
    options.graph_optimization_level = sardonyx.GraphOptimizationLevel.ORT_DISABLE_ALL
    plain = sardonyx.InferenceSession(case.model, options)
    reference = sardonyx.InferenceSession(case.model, providers=["ReferenceExecutionProvider"])
    assert reference.get_providers() == ["ReferenceExecutionProvider"]
    fast = sardonyx.InferenceSession(case.model)
    for feed in case.feeds:
        expected = reference.run(None, feed)
        assert_same(plain.run(None, feed), expected)
        assert_same(fast.run(None, feed), expected)


def test_all_unsupported_operators_at_once():
    case = next(case for case in FOUND if case.name == "unsupported")
    with pytest.raises(sardonyx.SardonyxError) as caught:
        sardonyx.InferenceSession(case.model)
    import onnx

    known = {"Relu", "Add", "Identity"}
    unknown = {n.op_type for n in onnx.load(case.model).graph.node if n.domain not in ("", "ai.onnx")} - known
    assert unknown
    for name in unknown:
        assert name in str(caught.value)
