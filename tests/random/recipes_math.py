# SPDX-License-Identifier: Apache-2.0
"""Recipes: elementwise operators, reductions, products, casts."""

import numpy as np
import onnx
from draw import BOOL, FLOATS, STRING
from recipe import Control, Kit, i64, recipe
from schema import number_of


@recipe(
    *"Abs Acos Acosh Asin Asinh Atan Atanh BitwiseNot Ceil Celu Cos Cosh Elu Erf Exp Floor Gelu HardSigmoid HardSwish".split(),
    *"Identity IsInf IsNaN LeakyRelu Log Mish Neg Not Reciprocal Relu Round Selu Shrink Sigmoid Sign Sin Sinh Size".split(),
    *"Softplus Softsign Sqrt Swish Tan Tanh ThresholdedRelu".split(),
)
def unary(k: Kit):
    x = k.values(k.d.shape(), k.type(k.s.inputs[0].symbol))
    attrs = {}
    for name, kind in k.s.attributes.items():
        if kind == 1 and k.d.chance(0.6):
            attrs[name] = k.d.one(0.0, 1.0, k.d.real(-2, 2), k.d.real(0, 2))
        elif kind == 2 and k.d.chance(0.6):
            attrs[name] = k.d.flag()
    if k.name == "Celu" and attrs.get("alpha") == 0.0:
        attrs["alpha"] = 0.5
    if k.name == "Gelu":
        attrs = k.some(approximate=k.d.one("none", "tanh"))
    return k.spec([x], attrs)


def _pair(k: Kit, t, u=None, style: str = ""):
    shape = k.d.shape()
    a, b = shape, k.d.broadcast(shape)
    attrs = {}
    if k.has("broadcast"):  # before opset 7: b is a part of a's axes
        axis = k.d.whole(0, len(shape))
        end = k.d.whole(axis, len(shape))
        b, attrs = shape[axis:end], {"broadcast": 1}
        if end != len(shape) or k.d.chance(0.3):
            attrs["axis"] = axis
        if k.d.chance(0.3) or not b:
            b, attrs = shape, k.some(broadcast=0)
    elif k.d.chance(0.5) and k.name != "PRelu":
        a, b = (b, a) if k.d.chance(0.5) else (k.d.broadcast(shape, drop=False), b)
    return k.values(a, t, style), k.values(b, u or t, style), attrs


@recipe(
    *"Add Sub Mul And Or Xor Equal Greater GreaterOrEqual Less LessOrEqual BitwiseAnd BitwiseOr BitwiseXor PRelu SwiGLU".split()
)
def binary(k: Kit):
    a, b, attrs = _pair(k, k.type(k.s.inputs[0].symbol))
    if k.has("alpha"):
        attrs |= k.some(alpha=k.d.real(-2, 2))
    return k.spec([a, b], attrs)


@recipe("Div", "Mod")
def division(k: Kit):
    t = k.type()
    a, b, attrs = _pair(k, t)
    if t not in FLOATS:
        b[b == 0] = 1
    if k.name == "Mod":
        attrs["fmod"] = 1 if t in FLOATS else k.d.flag()
    return k.spec([a, b], attrs)


@recipe("Pow")
def pow(k: Kit):
    t = k.type()
    u = k.type("T1") if "T1" in k.s.constraints else t
    a, b, attrs = _pair(k, t, u)
    if t not in FLOATS or u not in FLOATS:
        b = np.abs(k.d.numbers.integers(0, 4, b.shape)).astype(u)
    elif k.d.chance(0.5):
        a = np.abs(a)
    return k.spec([a, b], attrs)


@recipe("BitShift")
def bit_shift(k: Kit):
    t = k.type()
    a, b, _ = _pair(k, t)
    bits = t.itemsize * 8
    b = k.d.numbers.integers(0, bits if k.d.chance(0.9) else bits + 3, b.shape).astype(t)
    return k.spec([a, b], {"direction": k.d.one("LEFT", "RIGHT")})


@recipe("Max", "Min", "Sum", "Mean")
def variadic(k: Kit):
    t, shape = k.type(), k.d.shape()
    count = k.d.one(1, 2, 2, 2, 3, 4)
    if k.version < 8:
        return k.spec([k.values(shape, t) for _ in range(count)])
    return k.spec([k.values(k.d.broadcast(shape), t) for _ in range(count)])


@recipe("Where")
def where(k: Kit):
    t, shape = k.type(), k.d.shape()
    shapes = [k.d.broadcast(shape) for _ in range(3)]
    return k.spec([k.values(shapes[0], bool), k.values(shapes[1], t), k.values(shapes[2], t)])


@recipe("Clip")
def clip(k: Kit):
    t = k.type()
    low, high = k.values((), t, "small"), k.values((), t, "small")
    if k.d.chance(0.85) and low > high:
        low, high = high, low
    bounds = [None if k.d.chance(0.3) else Control(v, name) for v, name in ((low, "min"), (high, "max"))]
    return k.spec([k.values(k.d.shape(), t), *bounds])


@recipe("Cast")
def cast(k: Kit):
    t, to = k.type("T1"), k.d.of(k.s.types("T2"))
    return k.spec([_castable(k, t, to)], _cast_attrs(k, to) | {"to": _cast_number(k, to)})


def _cast_number(k: Kit, to):
    number = number_of(to)
    if k.version == 1:  # by name then
        return onnx.TensorProto.DataType.Name(number)
    return number


def _cast_attrs(k: Kit, to) -> dict:
    attrs = k.some(saturate=k.d.flag()) if "float8" in to.name else {}
    if "e8m0" in to.name:
        attrs |= k.some(round_mode=k.d.one("up", "down", "nearest"))
    return attrs


def _castable(k: Kit, t, to) -> np.ndarray:
    shape = k.d.shape()
    if t == STRING:
        words = ("1", "-2", "3.5", "1e3", "0", "7") if to in FLOATS or to == STRING else ("1", "12", "0", "7")
        return np.array([k.d.of(words) for _ in range(int(np.prod(shape)))], object).reshape(shape)
    if t in FLOATS and to not in FLOATS:  # what does not fit has no defined result
        low = 0 if to.kind == "u" or to.name.startswith("u") else -2
        most = 1.4 if "2" == to.name[-1] else 7
        x = np.clip(k.d.numbers.standard_normal(shape) * 5, low, most)
        return np.asarray(x).astype(t)
    if to == STRING:
        return k.values(shape, t, "small")
    return k.values(shape, t)


@recipe("CastLike")
def cast_like(k: Kit):
    t, to = k.type("T1"), k.d.of(k.s.types("T2"))
    return k.spec([_castable(k, t, to), k.values(k.d.shape(), to)], _cast_attrs(k, to))


@recipe("BitCast")
def bit_cast(k: Kit):
    t = k.type("T1")
    same = [u for u in k.s.types("T2") if u.itemsize == t.itemsize and u != STRING and _bits(u) == _bits(t)]
    if t == STRING or t == BOOL or not same:
        t, same = np.dtype(np.float32), [np.dtype(np.int32)]
    return k.spec(
        [k.values(k.d.shape(), t)], {"to": number_of(k.d.of([u for u in same if u != BOOL] or same))}
    )


def _bits(t) -> int:
    narrow = {
        "int4": 4,
        "uint4": 4,
        "float4_e2m1fn": 4,
        "int2": 2,
        "uint2": 2,
        "float6_e2m3fn": 6,
        "float6_e3m2fn": 6,
    }
    return narrow.get(t.name, 8 * t.itemsize)


@recipe(*[f"Reduce{name}" for name in "L1 L2 LogSum LogSumExp Max Mean Min Prod Sum SumSquare".split()])
def reduce(k: Kit):
    t = k.type()
    shape = k.d.shape()
    style = "positive" if k.name == "ReduceLogSum" and t in FLOATS and k.d.chance(0.7) else ""
    axes = k.d.axes(len(shape))
    if k.version < 11:
        axes = [a % len(shape) for a in axes]
    attrs = k.some(keepdims=k.d.flag(), noop_with_empty_axes=k.d.flag())
    control = None if k.d.chance(0.25) else Control(i64(*axes), "axes")
    if not axes and k.has("axes"):
        control = None
    return k.spec([k.values(shape, t, style), control], attrs)


@recipe("ArgMax", "ArgMin")
def arg(k: Kit):
    shape = k.d.shape(k.d.whole(1, 5), least=1)
    attrs = k.some(
        axis=k.d.axis(len(shape), k.version >= 11), keepdims=k.d.flag(), select_last_index=k.d.flag()
    )
    return k.spec([k.values(shape, k.type())], attrs)


@recipe("CumSum", "CumProd")
def cumulate(k: Kit):
    shape = k.d.shape(k.d.whole(1, 5))
    axis = np.array(k.d.axis(len(shape)), k.d.one(np.int32, np.int64))
    return k.spec(
        [k.values(shape, k.type()), Control(axis)], k.some(reverse=k.d.flag(), exclusive=k.d.flag())
    )


@recipe("Softmax", "LogSoftmax", "Hardmax")
def softmax(k: Kit):
    shape = k.d.shape(k.d.whole(1, 5))
    axis = k.d.axis(len(shape), k.version >= 11)
    attrs = k.some(axis=axis) if len(shape) > 1 or k.version >= 13 else {"axis": 0}
    return k.spec([k.values(shape, k.type())], attrs)


@recipe("LpNormalization")
def lp_normalization(k: Kit):
    shape = k.d.shape(k.d.whole(1, 5))
    return k.spec([k.values(shape, k.type())], k.some(axis=k.d.axis(len(shape), False), p=k.d.whole(1, 2)))


@recipe("TopK")
def top_k(k: Kit):
    shape = k.d.shape(k.d.whole(1, 5))
    axis = k.d.axis(len(shape), k.version >= 11)
    size = shape[axis]
    attrs = k.some(largest=k.d.flag(), sorted=1)
    if axis not in (-1, len(shape) - 1) or k.d.chance(0.5):
        attrs["axis"] = axis
    return k.spec([k.values(shape, k.type()), Control(i64(k.d.whole(0, size)), "k")], attrs, 2)


@recipe("MatMul")
def mat_mul(k: Kit):
    a, b = matrices(k)
    t = k.type()
    return k.spec([k.values(a, t), k.values(b, t)])


def matrices(k: Kit) -> tuple[tuple, tuple]:
    m, n, inner = k.d.size(48), k.d.size(48), k.d.size(40)
    batch = k.d.shape(k.d.one(0, 0, 0, 1, 1, 2, 3), most=6)
    a, b = k.d.broadcast(batch), k.d.broadcast(batch)
    if k.d.chance(0.5):
        a, b = b, a
    if k.d.chance(0.08):
        return (inner,), (*b, inner, n)
    if k.d.chance(0.08):
        return (*a, m, inner), (inner,)
    return (*a, m, inner), (*b, inner, n)


@recipe("MatMulInteger")
def mat_mul_integer(k: Kit):
    a, b = matrices(k)
    t, u = k.type("T1"), k.type("T2")
    zero_a = k.values(k.d.one((), (1,)), t)
    zero_b = k.values(k.d.one((), (1,), (b[-1],) if len(b) == 2 else ()), u)
    return k.spec([k.values(a, t), k.values(b, u), k.maybe(zero_a), k.maybe(zero_b)])


@recipe("Gemm")
def gemm(k: Kit):
    m, n, inner, t = k.d.size(48), k.d.size(48), k.d.size(40), k.type()
    ta, tb = k.d.flag(), k.d.flag()
    a = k.values((inner, m) if ta else (m, inner), t)
    b = k.values((n, inner) if tb else (inner, n), t)
    whole = t not in FLOATS
    scale = [float(k.d.whole(0, 3)) if whole else k.d.one(0.0, 1.0, 0.5, k.d.real(-2, 2)) for _ in range(2)]
    attrs = {"transA": ta, "transB": tb} | k.some(alpha=scale[0], beta=scale[1])
    c = k.d.broadcast((m, n)) if k.version >= 7 else (m, n)
    c = k.values(c, t)
    return k.spec([a, b, c if k.version < 11 else k.maybe(c, 0.7)], attrs)


@recipe("Einsum")
def einsum(k: Kit):
    sizes = {c: k.d.size(9, 1) for c in "abcde"}
    count = k.d.one(1, 2, 2, 2, 3)
    terms = ["".join(k.d.random.sample("abcde", k.d.whole(1, 3))) for _ in range(count)]
    if k.d.chance(0.1) and len(terms[0]) < 3:
        terms[0] += terms[0][0]
    letters = sorted(set("".join(terms)))
    out = "".join(k.d.random.sample(letters, k.d.whole(0, min(3, len(letters)))))
    equation = ",".join(terms) + (f"->{out}" if k.d.chance(0.8) else "")
    if k.d.chance(0.2):
        equation = equation.replace(",", " , ")
    t = k.type()
    return k.spec([k.values([sizes[c] for c in term], t, "small") for term in terms], {"equation": equation})


@recipe("Det")
def det(k: Kit):
    n = k.d.size(6, 1)
    return k.spec([k.values((*k.d.shape(k.d.whole(0, 2), most=6), n, n), k.type(), "small")])


@recipe("Range")
def span(k: Kit):
    t = k.type()
    start, delta = k.values((), t, "small"), k.values((), t, "small")
    if delta == 0 or t in FLOATS:
        delta = np.array(k.d.one(1, 2, -1, 0.5) if t in FLOATS else k.d.one(1, 2, -1), t)
    count = k.d.whole(-2, 20)
    limit = (start + delta * np.array(count, t)).astype(t)
    return k.spec([Control(np.asarray(v, t)) for v in (start, limit, delta)])


@recipe("EyeLike")
def eye_like(k: Kit):
    attrs = k.some(k=k.d.whole(-5, 5), dtype=number_of(k.d.of(k.s.types("T2"))))
    t = k.type("T1")
    if "dtype" not in attrs and t not in k.s.types("T2"):
        attrs["dtype"] = 1
    return k.spec([k.values(k.d.shape(2), t)], attrs)


@recipe("RandomNormalLike", "RandomUniformLike", "Bernoulli")
def random_like(k: Kit):
    t = k.type("T1")
    attrs = k.some(seed=k.d.real(0, 100), dtype=number_of(k.d.of(k.s.types("T2"))))
    if t not in k.s.types("T2"):
        attrs["dtype"] = 1
    return k.spec([k.values(k.d.shape(), t, "unit")], attrs)


@recipe("RandomNormal", "RandomUniform")
def random_shape(k: Kit):
    shape = list(k.d.shape(k.d.whole(1, 4)))
    return k.spec(
        [], k.some(seed=k.d.real(0, 100), dtype=number_of(k.d.of(k.s.types("T")))) | {"shape": shape}
    )


@recipe("Multinomial")
def multinomial(k: Kit):
    shape = (k.d.size(5, 1), k.d.size(9, 1))
    return k.spec([k.values(shape, k.type("T1"), "small")], k.some(sample_size=k.d.whole(1, 9), seed=1.0))
