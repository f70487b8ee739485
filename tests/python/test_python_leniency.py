# SPDX-License-Identifier: Apache-2.0
"""Models that are not quite right and that onnxruntime runs; and models that nobody should guess about."""

import logging

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper
from python_testing import model_of

import sardonyx

RNG = np.random.default_rng(7)


def floats(*shape) -> np.ndarray:
    return RNG.standard_normal(shape).astype(np.float32)


def session_of(model, providers=None, **options) -> sardonyx.InferenceSession:
    o = sardonyx.SessionOptions()
    for name, value in options.items():
        setattr(o, name, value)
    data = model if isinstance(model, bytes) else model.SerializeToString()
    return sardonyx.InferenceSession(data, o, providers=providers)


# Rules take the Expand away: for them both inputs have one size.
SAME_NAME = model_of(
    """g (float[width] x, float[width] y) => (float[n] z) {
      s = Shape(y)
      e = Expand(x, s)
      z = Add(e, y)
    }"""
)


def test_a_name_with_two_sizes_says_nothing(caplog):
    session = session_of(SAME_NAME)
    x, y = floats(1), floats(3)
    np.testing.assert_array_equal(session.run(None, {"x": y, "y": y})[0], y + y)
    with caplog.at_level(logging.WARNING, "sardonyx"):
        for _ in range(3):
            np.testing.assert_array_equal(session.run(None, {"x": x, "y": y})[0], x + y)
    told = [r.getMessage() for r in caplog.records if "width" in r.getMessage()]
    assert len(told) == 1 and "sizes 1 and 3" in told[0]
    np.testing.assert_array_equal(session.run(None, {"x": y, "y": y})[0], y + y)
    # The names said nothing, but the operators still do.
    with pytest.raises(Exception, match="broadcast"):
        session.run(None, {"x": floats(2), "y": y})


def test_a_name_with_two_sizes_is_an_error_where_asked():
    session = session_of(SAME_NAME, strict_names=True)
    with pytest.raises(Exception, match="width"):
        session.run(None, {"x": floats(1), "y": floats(3)})
    np.testing.assert_array_equal(session.run(None, {"x": np.ones(2, "f"), "y": np.ones(2, "f")})[0], [2, 2])


def test_one_element_of_another_rank():
    scalar = session_of(model_of("g (float x, float[3] y) => (float[3] z) { z = Mul(x, y) }"))
    y = floats(3)
    np.testing.assert_array_equal(scalar.run(None, {"x": np.full((1, 1), 2, "f"), "y": y})[0], 2 * y)
    vector = session_of(model_of("g (float[1] x) => (float[1] z) { z = Neg(x) }"))
    (z,) = vector.run(None, {"x": np.array(2, "f")})
    assert z.shape == (1,) and z[0] == -2
    with pytest.raises(Exception, match="expected"):
        vector.run(None, {"x": floats(2, 1)})
    texts = session_of(model_of("g (string x) => (string z) { z = Identity(x) }"))
    assert texts.run(None, {"x": np.array(["a"], object)})[0].shape == ()


@pytest.mark.parametrize("opset", [9, 13, 16])
def test_normalisations_that_an_optimiser_writes(opset):
    x, scale, bias = floats(2, 3, 8), floats(8), floats(8)
    nodes = [
        helper.make_node("LayerNormalization", ["x", "s", "b"], ["y"], axis=-1, epsilon=1e-5),
        helper.make_node("SimplifiedLayerNormalization", ["x", "s"], ["z"], axis=-1, epsilon=1e-6),
    ]
    info = helper.make_tensor_value_info
    graph = helper.make_graph(
        nodes,
        "g",
        [info("x", TensorProto.FLOAT, [2, 3, 8])],
        [info("y", TensorProto.FLOAT, None), info("z", TensorProto.FLOAT, None)],
        [numpy_helper.from_array(scale, "s"), numpy_helper.from_array(bias, "b")],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=8)
    y, z = session_of(model).run(None, {"x": x})
    d = x.astype(np.float64)
    normal = (d - d.mean(-1, keepdims=True)) / np.sqrt(d.var(-1, keepdims=True) + 1e-5)
    np.testing.assert_allclose(y, normal * scale + bias, atol=2e-6)
    np.testing.assert_allclose(z, d / np.sqrt((d * d).mean(-1, keepdims=True) + 1e-6) * scale, atol=2e-6)


def with_versions(ir: int = 8, **opsets: int) -> bytes:
    model = onnx.load_from_string(model_of("g (float[N] x) => (float[N] y) { y = Relu(x) }"))
    model.ir_version = ir
    del model.opset_import[:]
    for domain, version in opsets.items():
        model.opset_import.append(helper.make_opsetid(domain.replace("_", "."), version))
    return model.SerializeToString()


@pytest.mark.parametrize(
    "model, why",
    [
        (with_versions(ai_onnx=99), "opset 99"),
        (with_versions(ai_onnx=13, ai_onnx_ml=77), "opset 77 of domain 'ai.onnx.ml'"),
        (with_versions(), "no opset_import"),
        (with_versions(ir=99, ai_onnx=13), "IR version 99"),
    ],
)
def test_versions_that_are_not_known(model, why):
    with pytest.raises(Exception, match=why):
        session_of(model)
    np.testing.assert_array_equal(
        session_of(model, allow_newer=True).run(None, {"x": np.array([-1, 1], "f")})[0], [0, 1]
    )


def test_a_model_older_than_opsets():
    assert session_of(with_versions(ir=2)).run(None, {"x": np.array([-1, 1], "f")})[0].tolist() == [0, 1]


def test_stale_sizes_in_the_file():
    """value_info and outputs with sizes of another export: what follows from the inputs is right."""
    info = helper.make_tensor_value_info
    nodes = [
        helper.make_node("Reshape", ["x", "shape"], ["r"]),
        helper.make_node("Relu", ["r"], ["t"]),
        helper.make_node("Transpose", ["t"], ["y"], perm=[1, 0]),
    ]
    graph = helper.make_graph(
        nodes,
        "g",
        [info("x", TensorProto.FLOAT, ["n", 6]), info("shape", TensorProto.INT64, [2])],
        [info("y", TensorProto.FLOAT, [4, 9])],
        value_info=[info("r", TensorProto.FLOAT, [9, 4]), info("t", TensorProto.FLOAT, [9, 4])],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    x = floats(2, 6)
    for rules in (True, False):
        level = sardonyx.GraphOptimizationLevel
        session = session_of(
            model, graph_optimization_level=level.ORT_ENABLE_ALL if rules else level.ORT_DISABLE_ALL
        )
        (y,) = session.run(None, {"x": x, "shape": np.array([4, 3])})
        np.testing.assert_array_equal(y, np.maximum(x.reshape(4, 3), 0).T)


def test_slice_whose_lists_have_no_known_length():
    session = session_of(
        model_of(
            "g (float[4, 5] x, int64[k] starts, int64[k] ends) => (float[a, b] y) { y = Slice(x, starts, ends) }"
        )
    )
    x = floats(4, 5)
    for n, expected in ((1, x[1:3]), (2, x[1:3, 2:4])):
        feeds = {"x": x, "starts": np.array([1, 2][:n]), "ends": np.array([3, 4][:n])}
        np.testing.assert_array_equal(session.run(None, feeds)[0], expected)


def test_split_into_many_parts():
    n = 300
    names = [f"y{k}" for k in range(n)]
    info = helper.make_tensor_value_info
    graph = helper.make_graph(
        [helper.make_node("Split", ["x", "s"], names)],
        "g",
        [info("x", TensorProto.FLOAT, [n]), info("s", TensorProto.INT64, [n])],
        [info(name, TensorProto.FLOAT, None) for name in names],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=8)
    out = session_of(model).run(None, {"x": np.arange(n, dtype="f"), "s": np.ones(n, np.int64)})
    assert np.concatenate(out).tolist() == list(range(n))


def constant_model(node, constants, shape) -> onnx.ModelProto:
    """A node over constants alone, not folded: its result is added to an input."""
    info = helper.make_tensor_value_info
    graph = helper.make_graph(
        [node, helper.make_node("Add", ["c", "x"], ["y"])],
        "g",
        [info("x", TensorProto.FLOAT, shape)],
        [info("y", TensorProto.FLOAT, shape)],
        [numpy_helper.from_array(v, k) for k, v in constants.items()],
    )
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)


@pytest.mark.parametrize("rules", [True, False])
@pytest.mark.parametrize("group, features", [(16, 16), (2, 32), (1, 16)])
def test_convolution_of_constants(rules, group, features):
    level = sardonyx.GraphOptimizationLevel
    data = {"d": floats(1, 16, 6, 6), "w": floats(features, 16 // group, 3, 3)}
    node = helper.make_node("Conv", ["d", "w"], ["c"], group=group)
    model = constant_model(node, data, [1, features, 4, 4])
    options = {"graph_optimization_level": level.ORT_ENABLE_ALL if rules else level.ORT_DISABLE_ALL}
    x = np.zeros((1, features, 4, 4), "f")
    expected = session_of(model, ["reference"], **options).run(None, {"x": x})[0]
    np.testing.assert_allclose(session_of(model, **options).run(None, {"x": x})[0], expected, atol=1e-4)


@pytest.mark.parametrize("channels", [3, 16, 19])
@pytest.mark.parametrize("op", ["MaxPool", "AveragePool", "GlobalMaxPool", "GlobalAveragePool"])
def test_pooling_of_a_constant(op, channels):
    level = sardonyx.GraphOptimizationLevel
    attrs = {} if op.startswith("Global") else {"kernel_shape": [2, 2], "strides": [2, 2]}
    size = 1 if op.startswith("Global") else 3
    model = constant_model(
        helper.make_node(op, ["d"], ["c"], **attrs),
        {"d": floats(1, channels, 6, 6)},
        [1, channels, size, size],
    )
    x = np.zeros((1, channels, size, size), "f")
    options = {"graph_optimization_level": level.ORT_DISABLE_ALL}
    expected = session_of(model, ["reference"], **options).run(None, {"x": x})[0]
    np.testing.assert_allclose(session_of(model, **options).run(None, {"x": x})[0], expected, atol=1e-6)


@pytest.mark.parametrize(
    "op, attrs, x",
    [
        ("ThresholdedRelu", {}, [np.nan, 1, 2, -np.inf]),
        ("Celu", {}, [np.nan, 1, -2, -np.inf]),
        ("ReduceL2", {"keepdims": 1}, [1e30, -1e30, 1e30]),
        ("ReduceL2", {"keepdims": 1}, [3e-30, 4e-30]),
        ("ReduceLogSum", {"keepdims": 1}, [np.inf, 1]),
        ("ReduceLogSum", {"keepdims": 1}, [3e38, 3e38]),
        ("ReduceSum", {"keepdims": 1}, [3e38, 3e38, -3e38]),
        ("ReduceMean", {"keepdims": 1}, [3e38, 3e38, 3e38]),
        ("ReduceLogSumExp", {"keepdims": 1}, [np.inf, 1]),
    ],
)
@pytest.mark.parametrize("repeat", [1, 40])
def test_edges_of_numbers(op, attrs, x, repeat):
    """Both providers say the same where float32 ends."""
    data = np.array(x * repeat, "f")
    info = helper.make_tensor_value_info
    graph = helper.make_graph(
        [helper.make_node(op, ["x"], ["y"], **attrs)],
        "g",
        [info("x", TensorProto.FLOAT, ["n"])],
        [info("y", TensorProto.FLOAT, None)],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=8)
    cpu, reference = (session_of(model, [p]).run(None, {"x": data})[0] for p in ("cpu", "reference"))
    np.testing.assert_allclose(cpu, reference, rtol=1e-6)
    if op == "ReduceL2":
        np.testing.assert_allclose(cpu, [np.sqrt((data.astype(np.float64) ** 2).sum())], rtol=1e-6)


def test_lengths_of_zero():
    model = model_of(
        """g (float[2, 2, 1] x, int32[2] l, float[1, 2, 1] h, float[1, 2, 1] c) => (float[a] y, float[b] yh, float[d] yc)
        <float[1, 4, 1] w = {0.5, -0.25, 0.75, 1}, float[1, 4, 1] r = {0.25, 0.5, -0.5, 0.75}> {
          y, yh, yc = LSTM<hidden_size = 1>(x, w, r, , l, h, c)
        }"""
    )
    feeds = {
        "x": floats(2, 2, 1),
        "l": np.array([0, 2], np.int32),
        "h": floats(1, 2, 1),
        "c": floats(1, 2, 1),
    }
    got = session_of(model, ["cpu"]).run(None, feeds)
    for a, b in zip(got, session_of(model, ["reference"]).run(None, feeds), strict=True):
        np.testing.assert_allclose(a, b, atol=1e-6)
    assert got[1][0, 0, 0] == 0 and got[2][0, 0, 0] == 0
    with pytest.raises(Exception, match="length"):
        session_of(model, ["cpu"]).run(None, feeds | {"l": np.array([3, 2], np.int32)})


@pytest.mark.parametrize("opset", [23, 24])
@pytest.mark.parametrize("length", [0, 1, 3, 5])
def test_masks_shorter_than_the_keys(opset, length):
    """Version 23 spreads a mask over the keys; version 24 hides the keys behind it."""
    model = model_of(
        "g (float[1, 2, 4, 8] q, float[1, 2, 5, 8] k, float[1, 2, 5, 8] v, float[s, t] m) => (float[1, 2, 4, 8] y)"
        "{ y = Attention(q, k, v, m) }",
        opset,
    )
    feeds = {
        "q": floats(1, 2, 4, 8),
        "k": floats(1, 2, 5, 8),
        "v": floats(1, 2, 5, 8),
        "m": floats(4, length),
    }
    if opset == 23 and length not in (1, 5):
        for provider in ("cpu", "reference"):
            with pytest.raises(Exception, match="broadcast"):
                session_of(model, [provider]).run(None, feeds)
        return
    scores = feeds["q"].astype(np.float64) @ feeds["k"].swapaxes(-1, -2) / np.sqrt(8)
    seen = 5 if opset == 23 else length
    scores = scores[..., :seen] + feeds["m"]
    expected = np.zeros((1, 2, 4, 8))
    if seen:
        p = np.exp(scores - scores.max(-1, keepdims=True))
        expected = p / p.sum(-1, keepdims=True) @ feeds["v"][..., :seen, :]
    for provider in ("cpu", "reference"):
        np.testing.assert_allclose(session_of(model, [provider]).run(None, feeds)[0], expected, atol=1e-5)


@pytest.mark.parametrize("declared", [[9, 4], ["a", "b"], ["n", 6], [1, 2, 3]])
def test_declared_sizes_are_not_trusted(declared):
    """Where the file alone says what a value is, the run finds out."""
    info = helper.make_tensor_value_info
    graph = helper.make_graph(
        [helper.make_node("Reshape", ["x", "shape"], ["r"]), helper.make_node("Relu", ["r"], ["y"])],
        "g",
        [info("x", TensorProto.FLOAT, ["n", 6]), info("shape", TensorProto.INT64, ["k"])],
        [info("y", TensorProto.FLOAT, None)],
        value_info=[info("r", TensorProto.FLOAT, declared)],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    x = floats(2, 6)
    for provider in ("cpu", "reference"):
        session = session_of(model, [provider])
        for shape in ([4, 3], [12], [3, 2, 2]):
            try:
                (y,) = session.run(None, {"x": x, "shape": np.array(shape)})
            except Exception as e:  # a rank that contradicts the file's may be refused, but not misread
                assert len(shape) != len(declared), e
                continue
            np.testing.assert_array_equal(y, np.maximum(x.reshape(shape), 0))


@pytest.mark.parametrize("provider", ["cpu", "reference"])
@pytest.mark.parametrize("outputs", [["label", ""], ["", "score"]])
def test_outputs_that_nobody_names(provider, outputs):
    info = helper.make_tensor_value_info
    node = helper.make_node(
        "LinearClassifier",
        ["x"],
        outputs,
        domain="ai.onnx.ml",
        coefficients=[1.0, -1.0],
        intercepts=[0.0, 0.0],
        classlabels_ints=[3, 4],
    )
    types = {"label": TensorProto.INT64, "score": TensorProto.FLOAT}
    graph = helper.make_graph(
        [node],
        "g",
        [info("x", TensorProto.FLOAT, ["n", 1])],
        [info(name, types[name], None) for name in outputs if name],
    )
    imports = [helper.make_opsetid("", 17), helper.make_opsetid("ai.onnx.ml", 3)]
    model = helper.make_model(graph, opset_imports=imports, ir_version=8)
    (got,) = session_of(model, [provider]).run(None, {"x": np.array([[2], [-2]], "f")})
    assert got.tolist() == ([3, 4] if outputs[0] else [[2, -2], [-2, 2]])
