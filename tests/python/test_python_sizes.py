# SPDX-License-Identifier: Apache-2.0
"""Sizes and small integer contents that inference follows: rules on, rules off and the operators' own definitions agree,
and a size that cannot be right is refused by all of them."""

import numpy as np
import onnx
import onnx.parser
import pytest

import sardonyx


def model(text):
    return onnx.parser.parse_model('<ir_version: 9, opset_import: ["" : 19]>\n' + text).SerializeToString()


def ways(text):
    source = model(text)
    return {
        "rules": sardonyx.load(source),
        "no rules": sardonyx.load(source, rules=False),
        "reference": sardonyx.load(source, providers=["ReferenceExecutionProvider"]),
    }


def run(loaded, **feed):
    return loaded.session.run(None, feed)[0]


def refused(text, **feed):
    for way, loaded in ways(text).items():
        with pytest.raises(Exception):  # noqa: B017 - whichever error the package has for it
            pytest.fail(f"{way} gave {run(loaded, **feed)}")


def same(text, expected, **feed):
    for way, loaded in ways(text).items():
        found = run(loaded, **feed)
        assert found.shape == expected.shape and found.dtype == expected.dtype, way
        np.testing.assert_array_equal(found, expected, err_msg=way)


def floats(*shape):
    return np.arange(np.prod(shape), dtype=np.float32).reshape(shape)


RESHAPE_TO_PRODUCT = """agraph (float[a, b] x) => (float[p, q] y) {
  s = Shape(x)
  zero = Constant<value_ints = [0]>()
  n = ReduceProd<keepdims = 1>(s, zero)
  four = Constant<value_ints = [4]>()
  shape = Concat<axis = 0>(n, four)
  r = Reshape(x, shape)
  y = Relu(r)
}"""


def test_reshape_keeps_its_element_count():
    refused(RESHAPE_TO_PRODUCT, x=floats(2, 4))


def test_reshape_to_a_fed_shape_is_not_what_the_file_says():
    text = """agraph (float[2, 3] x, int64[n] shape) => (float[p, q] y) <float[2, 3] r> {
      r = Reshape(x, shape)
      y = Relu(r)
    }"""
    same(text, floats(2, 3), x=floats(2, 3), shape=np.array([2, 3]))
    for way, loaded in ways(text).items():
        try:
            found = run(loaded, x=floats(2, 3), shape=np.array([3, 2]))
        except Exception:
            continue
        assert found.shape == (3, 2), way
    refused(text, x=floats(2, 3), shape=np.array([2, 2]))


def test_squeeze_of_fed_axes_checks_them():
    text = """agraph (float[2, 3] x, int64[n] axes) => (float[p, q] y) <float[2, 3] r> {
      r = Squeeze(x, axes)
      y = Relu(r)
    }"""
    refused(text, x=floats(2, 3), axes=np.array([0]))


def test_expand_to_a_fed_shape_is_not_what_the_file_says():
    text = """agraph (float[2, 3] x, int64[n] shape) => (float[p, q] y) <float[2, 3] r> {
      r = Expand(x, shape)
      y = Relu(r)
    }"""
    refused(text, x=floats(2, 3), shape=np.array([4, 3]))


@pytest.mark.parametrize("dtype", [np.int64, np.int32, np.int8, np.uint8], ids=lambda t: t.__name__)
@pytest.mark.parametrize("op", ["Add", "Sub", "Mul"])
def test_integers_wrap(op, dtype):
    info = np.iinfo(dtype)
    a = np.array([info.max, info.min, info.max, info.min + 1], dtype)
    b = np.array([info.max, info.max, 2, 3], dtype)
    with np.errstate(over="ignore"):
        expected = {"Add": a + b, "Sub": a - b, "Mul": a * b}[op]
    graph = onnx.helper.make_graph(
        [onnx.helper.make_node(op, ["a", "b"], ["y"])],
        "wraps",
        [],
        [onnx.helper.make_tensor_value_info("y", onnx.helper.np_dtype_to_tensor_dtype(np.dtype(dtype)), [4])],
        [onnx.numpy_helper.from_array(a, "a"), onnx.numpy_helper.from_array(b, "b")],
    )
    opset = [onnx.helper.make_opsetid("", 19)]
    source = onnx.helper.make_model(graph, opset_imports=opset, ir_version=9).SerializeToString()
    for rules in (True, False):
        np.testing.assert_array_equal(run(sardonyx.load(source, rules=rules)), expected)


@pytest.mark.parametrize("fmod", [0, 1])
def test_division_and_remainder_of_negative_numbers(fmod):
    a, b = np.array([-7, 7, -7, 7]), np.array([2, 2, -2, -3])
    constants = "a = Constant<value_ints = [-7, 7, -7, 7]>() b = Constant<value_ints = [2, 2, -2, -3]>()"
    text = "agraph () => (int64[4] y) {{ {} y = {} }}"
    same(text.format(constants, "Div(a, b)"), np.trunc(a / b).astype(np.int64))
    remainder = np.fmod(a, b) if fmod else np.mod(a, b)
    same(text.format(constants, f"Mod<fmod = {fmod}>(a, b)"), remainder)


def test_contents_of_int32_are_right_or_refused():
    text = """agraph (float[z, n] x) => (int64[k] y) {
      s = Shape<start = 1>(x)
      narrow = Cast<to = 6>(s)
      square = Mul(narrow, narrow)
      y = Cast<to = 7>(square)
    }"""
    same(text, np.array([100]), x=np.zeros((1, 10), np.float32))
    for loaded in ways(text).values():
        try:
            found = run(loaded, x=np.zeros((0, 70000), np.float32))
        except Exception:
            continue
        assert found == np.int64(np.array(70000 * 70000).astype(np.int32))


def test_a_loop_without_turns_has_the_sizes_that_are_known():
    text = """agraph (int64 m, float[n] x) => (float[t, k] y) {
      yes = Constant<value_int = 1>()
      go = Cast<to = 9>(yes)
      y = Loop(m, go) <body = b (int64 i, bool c) => (bool d, float[n] v) { d = Identity(c) v = Relu(x) }>
    }"""
    same(text, np.zeros((0, 5), np.float32), m=np.array(0), x=floats(5))
    same(text, np.stack([floats(5)] * 2), m=np.array(2), x=floats(5))


def test_a_chain_of_minima_loads_at_once():
    nodes = "\n".join(
        f"p{k} = Add(d{k}, one) q{k} = Add(d{k}, d{k}) d{k + 1} = Min(p{k}, q{k})" for k in range(1000)
    )
    text = f"""agraph (float[n] x) => (float[m] y) {{
      d0 = Shape(x)
      one = Constant<value_ints = [1]>()
      {nodes}
      y = Expand(x, d1000)
    }}"""
    loaded = sardonyx.load(model(text))
    assert run(loaded, x=np.ones(1, np.float32)).shape == (1001,)
