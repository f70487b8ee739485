# SPDX-License-Identifier: Apache-2.0
"""What goes in and comes out: every dtype, strings, sequences, maps, optionals, odd memory."""

import ml_dtypes
import numpy as np
import onnxruntime
import pytest
from onnx import TensorProto, helper, save
from python_testing import assert_same, model_of

import sardonyx

PLAIN = "float32 float64 float16 int64 int32 int16 int8 uint64 uint32 uint16 uint8 bool complex64 complex128".split()
SMALL = [
    (TensorProto.BFLOAT16, "bfloat16"),
    (TensorProto.FLOAT8E4M3FN, "float8_e4m3fn"),
    (TensorProto.FLOAT8E4M3FNUZ, "float8_e4m3fnuz"),
    (TensorProto.FLOAT8E5M2, "float8_e5m2"),
    (TensorProto.FLOAT8E5M2FNUZ, "float8_e5m2fnuz"),
    (TensorProto.UINT4, "uint4"),
    (TensorProto.INT4, "int4"),
    (TensorProto.FLOAT4E2M1, "float4_e2m1fn"),
]


def identity(elem_type: int, opset: int = 23) -> bytes:
    values = [helper.make_tensor_value_info(name, elem_type, ["n", 3]) for name in "xy"]
    graph = helper.make_graph([helper.make_node("Identity", ["x"], ["y"])], "g", values[:1], values[1:])
    return helper.make_model(
        graph, ir_version=10, opset_imports=[helper.make_opsetid("", opset)]
    ).SerializeToString()


@pytest.mark.parametrize("dtype", PLAIN)
def test_plain_types(dtype):
    session = sardonyx.InferenceSession(identity(helper.np_dtype_to_tensor_dtype(np.dtype(dtype))))
    x = np.array([[0, 1, 2], [3, 100, 5]]).astype(dtype)
    y = session.run(None, {"x": x})[0]
    assert y.dtype == x.dtype
    np.testing.assert_array_equal(y, x)


@pytest.mark.parametrize(("elem_type", "name"), SMALL, ids=[name for _, name in SMALL])
def test_small_types(elem_type, name):
    """Elements of half a byte are packed inside and one in a byte outside."""
    session = sardonyx.InferenceSession(identity(elem_type))
    x = np.array([[0, 1, 2], [3, 1, 0], [-2, 6, -1]]).astype(getattr(ml_dtypes, name))
    y = session.run(None, {"x": x})[0]
    assert y.dtype == x.dtype
    np.testing.assert_array_equal(y.astype(np.float32), x.astype(np.float32))


def test_bfloat16_arithmetic():
    model = model_of("g (bfloat16[n] x) => (bfloat16[n] y) { y = Add(x, x) }", 18)
    x = np.array([1, 2.5, -3], ml_dtypes.bfloat16)
    np.testing.assert_array_equal(sardonyx.load(model)(x).astype(np.float32), [2, 5, -6])


def test_odd_memory():
    """Strided, reversed, transposed, swapped, misaligned and read-only arrays, and a file that ends with its page."""
    model = sardonyx.load(model_of("g (float[a, b] x) => (float[a, b] y) { y = Neg(x) }"))
    base = np.random.default_rng(0).standard_normal((64, 48)).astype(np.float32)
    bytes_ = bytearray(base.nbytes + 1)
    misaligned = np.frombuffer(bytes_, np.uint8)[1:].view(np.float32).reshape(base.shape)
    misaligned[:] = base
    fixed = base.copy()
    fixed.flags.writeable = False
    for x in (
        base[::2, ::3],
        base[::-1],
        base.T,
        base.astype(">f4"),
        misaligned,
        fixed,
        base[:0],
        base[:, :1],
    ):
        np.testing.assert_array_equal(model(x), -x)


def test_memory_at_the_end_of_a_page(tmp_path):
    """Nothing is read past the end of an input."""
    model = sardonyx.load(
        model_of(
            "g (float[a, b] x, float[b] w) => (float[a, b] y) { s = Add(x, w) e = Sigmoid(s) y = Softmax(e) }",
            17,
        )
    )
    for columns in (1024, 1021, 3):
        path = tmp_path / f"x{columns}"
        rows = 4096 // columns
        data = np.zeros(4096, np.float32)
        data.tofile(path)
        whole = np.memmap(path, np.float32, "r")
        x = whole[4096 - rows * columns :].reshape(rows, columns)
        w = np.zeros(columns, np.float32)
        np.testing.assert_allclose(model(x, w), 1 / columns, rtol=1e-5)


def test_scalars_and_empty():
    model = sardonyx.load(model_of("g (float x) => (float y) { y = Neg(x) }"))
    for x in (2.0, np.float32(2), np.array(2, np.float32)):
        y = model(x)
        assert y == -2 and y.shape == () and isinstance(y, np.ndarray)
    add = sardonyx.load(model_of("g (float[n] x) => (float[n] y) { y = Add(x, x) }"))
    assert add(np.zeros(0, np.float32)).shape == (0,)


STRINGS = model_of("g (string[n] s) => (string[n] t) { t = Identity(s) }")


@pytest.mark.parametrize(
    "array",
    [
        np.array(["a", "ö", "", "日本語 🙂"], object),
        np.array(["a", "ö", "", "日本語 🙂"]),
        ["a", "b"],
        np.array([1, None, 2.5, "x"], object),
        np.array(["x", "y", "z"])[::-1],
    ],
    ids=["object", "unicode", "list", "others", "reversed"],
)
def test_strings(array):
    ours, theirs = (
        package.InferenceSession(STRINGS).run(None, {"s": array}) for package in (sardonyx, onnxruntime)
    )
    assert_same(ours, theirs)


def test_bytes_survive():
    """What is no UTF-8 comes out as Python writes such bytes, and goes in again."""
    model = sardonyx.load(STRINGS)
    raw = np.array([b"\xff\xfe", b"plain"], object)
    out = model(raw)
    assert [text.encode("utf-8", "surrogateescape") for text in out] == list(raw)
    assert list(model(out)) == list(out)


def test_large_strings_and_shapes():
    model = sardonyx.load(model_of("g (string[a, b] s) => (string[a, b] t) { t = Identity(s) }"))
    x = np.array([["a" * 1000, "b"], ["c", "d" * 10]], object)
    np.testing.assert_array_equal(model(x), x)
    assert model(x[:0]).shape == (0, 2)


SEQUENCE = model_of(
    """g (seq(float[n]) s, float[n] x) => (seq(float[n]) t, float[n] last) {
      t = SequenceInsert(s, x)
      minus = Constant<value = int64 {-1}>()
      last = SequenceAt(t, minus)
    }"""
)


def test_sequences():
    ours, theirs = (package.InferenceSession(SEQUENCE) for package in (sardonyx, onnxruntime))
    assert ours.get_inputs()[0].type == theirs.get_inputs()[0].type == "seq(tensor(float))"
    parts = [np.arange(k, dtype=np.float32) for k in (3, 1, 2000)]
    feed = {"s": parts, "x": np.array([7, 8], np.float32)}
    got = ours.run(None, feed)
    assert_same(got, theirs.run(None, feed))
    got[0][2][:] = -1  # the caller's inputs are not the results
    assert parts[2][1] == 1
    assert_same(ours.run(None, {"s": [], "x": parts[0]}), theirs.run(None, {"s": [], "x": parts[0]}))
    with pytest.raises(sardonyx.SardonyxError, match="'s'.*list"):
        ours.run(None, {"s": "text", "x": parts[0]})


def test_sequences_outlive_the_run():
    """Items built from inputs and inner results stay what they are while other runs go on."""
    model = sardonyx.load(
        model_of(
            """g (float[n] x) => (seq(float[n]) s) {
              a = Neg(x) b = Exp(a) c = Neg(b)
              s = SequenceConstruct(x, b, c)
            }"""
        )
    )
    first = model(np.ones(1000, np.float32))
    kept = [item.copy() for item in first]
    for k in range(5):
        model(np.full(1000, k + 2, np.float32))
    for a, b in zip(first, kept, strict=True):
        np.testing.assert_array_equal(a, b)
    np.testing.assert_allclose(first[2], -np.exp(-np.ones(1000)), rtol=1e-6)


def zip_map(labels: str) -> bytes:
    return model_of(
        f"g (float[n, 3] x) => (seq(map(int64, float)) z) {{ z = ai.onnx.ml.ZipMap<{labels}>(x) }}"
        if "int64s" in labels
        else f"g (float[n, 3] x) => (seq(map(string, float)) z) {{ z = ai.onnx.ml.ZipMap<{labels}>(x) }}"
    )


@pytest.mark.parametrize(
    "labels",
    ["classlabels_int64s = [10, -20, 30]", 'classlabels_strings = ["a", "ü", "c"]'],
    ids=["int", "text"],
)
def test_zip_map(labels):
    x = np.random.default_rng(0).random((5, 3), np.float32)
    ours, theirs = (package.InferenceSession(zip_map(labels)) for package in (sardonyx, onnxruntime))
    assert ours.get_outputs()[0].type == theirs.get_outputs()[0].type
    got = ours.run(None, {"x": x})[0]
    assert_same(got, theirs.run(None, {"x": x})[0], 0)
    ours.run(None, {"x": x + 1})
    assert sorted(got[0].values()) == sorted(x[0].tolist())


@pytest.mark.parametrize("other", [{}, {"int64_vocabulary": [1, 2]}], ids=["one", "both"])
def test_maps_as_inputs(other):
    def value(name, kind):
        return helper.make_value_info(name, kind)

    text = helper.make_map_type_proto(
        TensorProto.STRING, helper.make_tensor_type_proto(TensorProto.FLOAT, [])
    )
    node = helper.make_node(
        "DictVectorizer", ["m"], ["y"], domain="ai.onnx.ml", string_vocabulary=["a", "b", "c"], **other
    )
    out = helper.make_tensor_value_info("y", TensorProto.FLOAT, [1, 3])
    graph = helper.make_graph([node], "g", [value("m", text)], [out])
    model = helper.make_model(
        graph, ir_version=8, opset_imports=[helper.make_opsetid("ai.onnx.ml", 3), helper.make_opsetid("", 17)]
    ).SerializeToString()
    ours, theirs = (package.InferenceSession(model) for package in (sardonyx, onnxruntime))
    assert ours.get_inputs()[0].type == theirs.get_inputs()[0].type
    feed = {"m": {"c": 3.0, "a": 1.5}}
    np.testing.assert_array_equal(ours.run(None, feed)[0].reshape(-1), theirs.run(None, feed)[0].reshape(-1))


def test_optionals():
    model = model_of(
        """g (optional(float[n]) o) => (bool has) { has = OptionalHasElement(o) }""",
        18,
    )
    ours = sardonyx.load(model)
    assert ours(np.ones(2, np.float32)).item() is True
    assert ours(None).item() is False


def test_evaluate():
    """The definitions in float64, beside numpy."""
    model = model_of("g (float[a, b] x, float[b, c] w) => (float[a, c] y) { m = MatMul(x, w) y = Tanh(m) }")
    random = np.random.default_rng(1)
    x, w = random.standard_normal((3, 50)), random.standard_normal((50, 4))
    x, w = x.astype(np.float32), w.astype(np.float32)
    y = sardonyx.evaluate(model, {"x": x, "w": w})[0]
    assert y.dtype == np.float64
    np.testing.assert_allclose(y, np.tanh(x.astype(float) @ w.astype(float)), rtol=1e-13)


def test_external_data(tmp_path):
    """Weights in a file beside the model."""
    w = np.arange(3000, dtype=np.float32).reshape(3, 1000)
    from onnx import numpy_helper

    graph = helper.make_graph(
        [helper.make_node("MatMul", ["x", "w"], ["y"])],
        "g",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, ["n", 3])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, ["n", 1000])],
        [numpy_helper.from_array(w, "w")],
    )
    model = helper.make_model(graph, ir_version=8, opset_imports=[helper.make_opsetid("", 17)])
    save(model, tmp_path / "m.onnx", save_as_external_data=True, size_threshold=0)
    x = np.eye(3, dtype=np.float32)
    np.testing.assert_array_equal(sardonyx.load(tmp_path / "m.onnx")(x), w)
