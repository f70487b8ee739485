# SPDX-License-Identifier: Apache-2.0
"""Recipes: convolutions, pools, normalisations, quantisation, attention, recurrent layers."""

import numpy as np
from draw import FLOATS
from recipe import Control, Kit, i64, recipe
from schema import number_of


def window(k: Kit, rank: int, sizes, kernel, transposed: bool = False) -> dict:
    """Strides, pads and dilations that leave at least one place for the kernel."""
    d = k.d
    attrs = {}
    if d.chance(0.6):
        attrs["strides"] = [d.one(1, 1, 2, 2, 3) for _ in range(rank)]
    if d.chance(0.3):
        attrs["dilations"] = [d.one(1, 2, 3) for _ in range(rank)]
    dilations = attrs.get("dilations", [1] * rank) if k.has("dilations") else [1] * rank
    attrs["dilations"] = dilations if "dilations" in attrs else None
    extent = [(kernel[i] - 1) * dilations[i] + 1 for i in range(rank)]
    if k.has("auto_pad") and d.chance(0.25):
        attrs["auto_pad"] = d.one("SAME_UPPER", "SAME_LOWER", "VALID", "NOTSET")
    if attrs.get("auto_pad", "NOTSET") == "NOTSET" and d.chance(0.6):
        pads = [d.whole(0, max(kernel[i] - 1, 0)) for i in (*range(rank), *range(rank))]
        for i in range(rank):
            if not transposed and sizes[i] + pads[i] + pads[i + rank] < extent[i]:
                return {}
        attrs["pads"] = pads
    elif (
        not transposed
        and any(sizes[i] < extent[i] for i in range(rank))
        and "SAME" not in attrs.get("auto_pad", "")
    ):
        return {}
    return attrs


def picture(k: Kit, channels: int, least: int = 1) -> tuple[int, ...]:
    rank = k.d.one(1, 2, 2, 2, 2, 3)
    most = {1: 33, 2: 12, 3: 5}[rank]
    return (k.d.one(0, 1, 1, 1, 2, 3), channels, *(k.d.size(most, least) for _ in range(rank)))


def _kernel(k: Kit, sizes) -> list[int]:
    return [min(k.d.one(1, 1, 2, 3, 3, 4, 5), max(n, 1)) for n in sizes]


@recipe("Conv")
def conv(k: Kit):
    x, w, b, attrs = _conv(k, k.type())
    return k.spec([x, w, b], attrs)


def _conv(k: Kit, t, u=None):
    d = k.d
    groups = d.one(1, 1, 1, 1, 2, 3, d.size(33, 1))
    per_in = d.one(1, 2, 3, d.size(20, 1)) if groups < 8 else d.one(1, 1, 2)
    per_out = d.one(1, 2, d.size(33, 1)) if groups < 8 else d.one(1, 1, 2)
    shape = picture(k, groups * per_in)
    kernel = _kernel(k, shape[2:])
    attrs = window(k, len(kernel), shape[2:], kernel)
    if groups != 1 or d.chance(0.3):
        attrs["group"] = groups
    if d.chance(0.6):
        attrs["kernel_shape"] = kernel
    x, w = k.values(shape, t), k.values((groups * per_out, per_in, *kernel), u or t, "small")
    return x, w, k.maybe(k.values((groups * per_out,), t, "small")), attrs


@recipe("ConvInteger")
def conv_integer(k: Kit):
    t, u = k.type("T1"), k.type("T2")
    x, w, _, attrs = _conv(k, t, u)
    zero_w = k.values(k.d.one((), (1,), (w.shape[0],)), u)
    return k.spec([x, w, k.maybe(k.values((), t)), k.maybe(zero_w)], attrs)


def _scale(k: Kit, shape, t=np.float32) -> np.ndarray:
    return (k.d.numbers.random(shape) * 0.1 + 0.01).astype(t)


@recipe("QLinearConv")
def q_linear_conv(k: Kit):
    t, u, v = k.type("T1"), k.type("T2"), k.type("T3")
    x, w, _, attrs = _conv(k, t, u)
    per = k.d.one((), (w.shape[0],))
    bias = k.d.numbers.integers(-500, 500, (w.shape[0],)).astype(np.int32)
    return k.spec(
        [x, _scale(k, ()), k.values((), t), w, _scale(k, per), np.zeros(per, u) if u == np.int8 else k.values(per, u),
         _scale(k, ()) * np.float32(50), k.values((), v), k.maybe(bias)], attrs
    )  # fmt: skip


@recipe("QLinearMatMul")
def q_linear_mat_mul(k: Kit):
    from recipes_math import matrices

    a, b = matrices(k)
    t = k.type("T1")
    u, v = k.type("T2"), k.type("T3")
    s = np.dtype(np.float32) if "TS" not in k.s.constraints else k.type("TS", {np.dtype(np.float32)})
    return k.spec(
        [k.values(a, t), _scale(k, (), s), k.values((), t), k.values(b, u), _scale(k, (), s), k.values((), u),
         (_scale(k, ()) * 50).astype(s), k.values((), v)]
    )  # fmt: skip


@recipe("ConvTranspose")
def conv_transpose(k: Kit):
    d, t = k.d, k.type()
    groups = d.one(1, 1, 1, 2, 3)
    per_in, per_out = d.one(1, 2, 3, 8, 17), d.one(1, 2, 3, 8)
    shape = picture(k, groups * per_in)
    kernel = _kernel(k, [3] * (len(shape) - 2))
    attrs = window(k, len(kernel), shape[2:], kernel, True)
    strides = attrs.get("strides") or [1] * len(kernel)
    dilations = attrs.get("dilations") or [1] * len(kernel)
    if d.chance(0.3):
        attrs["output_padding"] = [d.whole(0, max(s, g) - 1) for s, g in zip(strides, dilations, strict=True)]
    if groups != 1 or d.chance(0.3):
        attrs["group"] = groups
    if d.chance(0.5):
        attrs["kernel_shape"] = kernel
    extra = attrs.get("output_padding") or [0] * len(kernel)
    pads = attrs.get("pads") or [0] * (2 * len(kernel))
    for i in range(len(kernel)):
        size = strides[i] * (shape[2 + i] - 1) + extra[i] + (kernel[i] - 1) * dilations[i] + 1
        if size - pads[i] - pads[i + len(kernel)] < 1:
            attrs["pads"] = None
    x, w = k.values(shape, t), k.values((groups * per_in, per_out, *kernel), t, "small")
    return k.spec([x, w, k.maybe(k.values((groups * per_out,), t))], attrs)


@recipe("DeformConv")
def deform_conv(k: Kit):
    d, t = k.d, k.type()
    groups, offsets = d.one(1, 1, 2), d.one(1, 1, 2)
    channels = groups * offsets * d.one(1, 2, 3)
    shape = (d.one(1, 2), channels, d.whole(3, 7), d.whole(3, 7))
    kernel = [d.whole(1, 3), d.whole(1, 3)]
    strides, dilations = [d.one(1, 2), d.one(1, 2)], [1, 1]
    pads = [d.whole(0, 1) for _ in range(4)]
    out = [(shape[2 + i] + pads[i] + pads[i + 2] - kernel[i]) // strides[i] + 1 for i in range(2)]
    count = groups * d.one(1, 2, 5)
    x, w = k.values(shape, t, "small"), k.values((count, channels // groups, *kernel), t, "small")
    offset = k.values((shape[0], offsets * kernel[0] * kernel[1] * 2, *out), t, "small")
    mask = k.values((shape[0], offsets * kernel[0] * kernel[1], *out), t, "unit")
    attrs = {
        "strides": strides,
        "dilations": dilations,
        "pads": pads,
        "group": groups,
        "offset_group": offsets,
    }
    return k.spec([x, w, offset, k.maybe(k.values((count,), t)), k.maybe(mask)], attrs)


@recipe("CausalConvWithState")
def causal_conv(k: Kit):
    d, t = k.d, k.type()
    n, c, length, size = d.whole(1, 2), d.size(20, 1), d.size(17, 1), d.whole(1, 4)
    inputs = [k.values((n, c, length), t, "small"), k.values((c, 1, size), t, "small")]
    inputs += [k.maybe(k.values((c,), t, "small")), k.maybe(k.values((n, c, size - 1), t, "small"))]
    return k.spec(inputs, k.some(activation=d.one("none", "silu", "swish")), 2)


@recipe("AveragePool", "MaxPool", "LpPool")
def pool(k: Kit):
    d = k.d
    shape = picture(k, d.size(49, 1), 2)
    kernel = _kernel(k, shape[2:])
    attrs = window(k, len(kernel), shape[2:], kernel) | {"kernel_shape": kernel}
    attrs |= k.some(
        ceil_mode=d.flag(), count_include_pad=d.flag(), storage_order=d.flag(), p=d.one(1, 2, 2, 3)
    )
    t = k.type()
    return k.spec([k.values(shape, t)], attrs, d.one(1, 2) if k.name == "MaxPool" else 1)


@recipe("GlobalAveragePool", "GlobalMaxPool", "GlobalLpPool")
def global_pool(k: Kit):
    return k.spec([k.values(picture(k, k.d.size(49, 1)), k.type())], k.some(p=k.d.one(1, 2, 3)))


@recipe("MaxUnpool")
def max_unpool(k: Kit):
    shape = (1, k.d.whole(1, 3), k.d.whole(1, 4), k.d.whole(1, 4))
    kernel = [2, 2]
    size = shape[2] * 2 * shape[3] * 2
    at = np.stack(
        [k.d.numbers.permutation(size * shape[1])[: shape[1] * shape[2] * shape[3]].reshape(shape[1:])]
    )
    return k.spec(
        [k.values(shape, k.type("T1")), at.astype(np.int64)], {"kernel_shape": kernel, "strides": kernel}
    )


def _rois(k: Kit, count: int, t) -> np.ndarray:
    corner = k.d.numbers.random((count, 2)) * 6
    return np.concatenate([corner, corner + k.d.numbers.random((count, 2)) * 6 + 0.1], 1).astype(t)


@recipe("MaxRoiPool")
def max_roi_pool(k: Kit):
    shape, t, count = (
        (k.d.whole(1, 2), k.d.size(9, 1), k.d.whole(2, 9), k.d.whole(2, 9)),
        k.type(),
        k.d.whole(0, 4),
    )
    batch = k.d.numbers.integers(0, shape[0], (count, 1))
    rois = np.concatenate([batch, np.round(_rois(k, count, np.float64))], 1).astype(t)
    return k.spec(
        [k.values(shape, t), rois],
        {"pooled_shape": [k.d.whole(1, 4), k.d.whole(1, 4)]} | k.some(spatial_scale=k.d.one(0.5, 1.0)),
    )


@recipe("RoiAlign")
def roi_align(k: Kit):
    shape, t, count = (
        (k.d.whole(1, 2), k.d.size(9, 1), k.d.whole(2, 9), k.d.whole(2, 9)),
        k.type("T1"),
        k.d.whole(0, 4),
    )
    attrs = k.some(
        coordinate_transformation_mode=k.d.one("half_pixel", "output_half_pixel"), mode=k.d.one("avg", "max"),
        output_height=k.d.whole(1, 4), output_width=k.d.whole(1, 4), sampling_ratio=k.d.whole(0, 3), spatial_scale=k.d.one(0.5, 1.0),
    )  # fmt: skip
    return k.spec(
        [
            k.values(shape, t, "small"),
            _rois(k, count, t),
            Control(k.d.indices((count,), shape[0], negative=False)),
        ],
        attrs,
    )


@recipe("BatchNormalization")
def batch_normalization(k: Kit):
    d, t = k.d, k.type()
    shape = picture(k, d.size(33, 1)) if d.chance(0.8) else (d.size(5), d.size(20, 1))
    c = (shape[1],)
    u = k.type("T1") if "T1" in k.s.constraints else t
    v = k.type("T2") if "T2" in k.s.constraints else k.type("U") if "U" in k.s.constraints else t
    attrs = k.some(epsilon=d.one(1e-5, 1e-3, 0.1), momentum=0.5)
    if k.version < 7:
        attrs["is_test"] = 1
    if k.version == 1:
        attrs["consumed_inputs"] = [0, 0, 0, 1, 1]
    training = k.version >= 14 and d.chance(0.2) and 0 not in shape
    if training:
        attrs["training_mode"] = 1
    inputs = [k.values(shape, t), k.values(c, u), k.values(c, u), k.values(c, v), k.values(c, v, "positive")]
    return k.spec(inputs, attrs, 3 if training else 1)


@recipe("InstanceNormalization")
def instance_normalization(k: Kit):
    shape, t = picture(k, k.d.size(33, 1)), k.type()
    c = (shape[1],)
    attrs = k.some(epsilon=k.d.one(1e-5, 1e-3, 0.1), consumed_inputs=[0, 0, 0])
    return k.spec([k.values(shape, t), k.values(c, t), k.values(c, t)], attrs)


@recipe("LayerNormalization", "RMSNormalization")
def layer_normalization(k: Kit):
    shape, t = k.d.shape(k.d.whole(1, 4)), k.type()
    axis = k.d.axis(len(shape))
    u = k.type("V") if "V" in k.s.constraints else t
    scale = k.d.broadcast(shape[axis % len(shape) :]) if k.d.chance(0.3) else shape[axis % len(shape) :]
    inputs = [k.values(shape, t), k.values(scale, u), k.maybe(k.values(scale, t))]
    outputs = k.d.one(1, 1, 3) if k.name[0] == "L" else 1
    return k.spec(inputs, k.some(epsilon=k.d.one(1e-5, 0.1), stash_type=1) | {"axis": axis}, outputs)


@recipe("GroupNormalization")
def group_normalization(k: Kit):
    groups = k.d.whole(1, 4)
    shape, t = picture(k, groups * k.d.one(1, 2, 3, 5, 8)), k.type()
    c = (shape[1] if k.version >= 21 else groups,)
    return k.spec(
        [k.values(shape, t), k.values(c, t), k.values(c, t)], {"num_groups": groups} | k.some(epsilon=0.01)
    )


@recipe("MeanVarianceNormalization")
def mean_variance(k: Kit):
    shape = picture(k, k.d.size(20, 1))
    default = len(shape) == 4 and k.d.chance(0.5)
    return k.spec([k.values(shape, k.type())], {} if default else {"axes": k.d.axes(len(shape), 1, False)})


@recipe("LRN")
def lrn(k: Kit):
    shape = picture(k, k.d.size(20, 1))
    attrs = {"size": k.d.one(1, 3, 5)} | k.some(
        alpha=k.d.real(0.001, 1), beta=k.d.real(0.3, 1), bias=k.d.real(0.5, 2)
    )
    return k.spec([k.values(shape, k.type())], attrs)


@recipe("Dropout")
def dropout(k: Kit):
    t = k.type()
    attrs = k.some(ratio=k.d.real(0, 0.9), seed=3) | {"is_test": 1}
    if k.version < 12:
        return k.spec([k.values(k.d.shape(), t)], attrs, k.d.one(1, 2))
    ratio = np.array(0.3, k.type("T1"))
    training = np.array(bool(k.d.chance(0.3)))
    return k.spec(
        [k.values(k.d.shape(), t), k.maybe(Control(ratio)), k.maybe(Control(training))], attrs, k.d.one(1, 2)
    )


@recipe("QuantizeLinear", "DequantizeLinear")
def quantize(k: Kit):
    d, down = k.d, k.name[0] == "Q"
    shape = d.shape(d.whole(1, 4) if k.version >= 13 else None)
    coarse = d.of(k.s.types((k.s.outputs if down else k.s.inputs)[0].symbol))
    fine_names = [
        n
        for n in (("T1", "T2") if down else ("T2", "T3"))
        if n in k.s.constraints and np.dtype(np.float32) in k.s.types(n)
    ]
    fine = (
        np.dtype(np.float32)
        if not fine_names
        else k.type(fine_names[0], {np.dtype(np.float32), np.dtype(np.float16)})
    )
    if coarse == np.int32 and down:
        fine = np.dtype(np.float32)
    attrs, lead = {}, ()
    if k.version >= 13 and len(shape) and d.chance(0.5):
        attrs["axis"] = d.axis(len(shape))
        lead = (shape[attrs["axis"]],)
        if k.version >= 21 and d.chance(0.4) and shape[attrs["axis"]] > 1:
            block = d.one(2, 3, 4)
            lead = list(shape)
            lead[attrs["axis"]] = -(-shape[attrs["axis"]] // block)
            attrs["block_size"] = block
    scale = _scale(k, lead, fine)
    zero = k.values(lead, coarse) if coarse not in FLOATS and coarse != np.int32 else np.zeros(lead, coarse)
    x = k.values(shape, fine) if down else k.values(shape, coarse)
    if down and coarse in FLOATS:
        attrs |= k.some(saturate=d.flag())
    zero = k.maybe(zero, 0.6)
    if zero is None and down and coarse != np.uint8:
        if k.has("output_dtype"):
            attrs["output_dtype"] = number_of(coarse)
    return k.spec([x, scale, zero], attrs)


@recipe("DynamicQuantizeLinear")
def dynamic_quantize(k: Kit):
    return k.spec([k.values(k.d.shape(least=1), np.float32, "small")], {}, 3)


@recipe("Attention")
def attention(k: Kit):
    d, t = k.d, k.type("T1")
    u = t if d.chance(0.8) else k.type("T2")
    batch, kv, rep = d.one(1, 1, 2, 3), d.whole(1, 3), d.one(1, 1, 2, 3)
    heads, lq, lk, size, vsize = kv * rep, d.size(17, 1), d.size(17, 1), d.size(17, 1), d.size(17, 1)
    past = d.one(0, 0, 0, d.size(5, 1))
    flat = d.chance(0.4)
    shapes = [(batch, heads, lq, size), (batch, kv, lk, size), (batch, kv, lk, vsize)]
    attrs = k.some(
        is_causal=d.flag(),
        scale=d.real(0.1, 1),
        softcap=d.one(0.0, d.real(0.5, 5)),
        qk_matmul_output_mode=d.whole(0, 3),
    )
    if flat:
        shapes = [(s[0], s[2], s[1] * s[3]) for s in shapes]
        attrs |= {"q_num_heads": heads, "kv_num_heads": kv}
    attrs |= k.some(left_window_size=d.whole(-1, 4), right_window_size=d.whole(-1, 4))
    total = lk + past
    mask = d.broadcast((batch, heads, lq, total)) if d.chance(0.4) else (lq, total)
    mask = mask if len(mask) >= 2 else (lq, total)
    m = np.dtype(bool) if d.chance(0.4) else t
    inputs = [
        k.values(shapes[0], t, "small"),
        k.values(shapes[1], t, "small"),
        k.values(shapes[2], u, "small"),
    ]
    inputs.append(k.maybe(k.values(mask, m, "small")))
    if past:
        inputs += [
            k.values((batch, kv, past, size), t, "small"),
            k.values((batch, kv, past, vsize), u, "small"),
        ]
    elif k.version >= 24 and d.chance(0.3):
        inputs += [None, None, i64(*[d.whole(0, lk) for _ in range(batch)])]
    outputs = [True, bool(past) or d.chance(0.2), bool(past) or d.chance(0.2), d.chance(0.3)]
    if not past and outputs[1] != outputs[2]:
        outputs[1] = outputs[2] = False
    return k.spec(inputs, attrs, outputs)


@recipe("RotaryEmbedding")
def rotary(k: Kit):
    d, t = k.d, k.type()
    b, heads, length, half = d.whole(1, 2), d.whole(1, 3), d.size(9, 1), d.one(1, 2, 4, 8, 17)
    size = 2 * half
    attrs = k.some(interleaved=d.flag())
    part = 0
    if d.chance(0.3) and half > 1:
        part = 2 * d.whole(1, half - 1)
        attrs["rotary_embedding_dim"] = part
    cache = (part or size) // 2
    shape = (b, heads, length, size)
    if d.chance(0.5):
        shape, attrs["num_heads"] = (b, length, heads * size), heads
    if d.chance(0.5):
        tables = [k.values((12, cache), t, "small") for _ in range(2)]
        return k.spec(
            [k.values(shape, t, "small"), *tables, Control(d.indices((b, length), 12, negative=False))], attrs
        )
    return k.spec(
        [k.values(shape, t, "small"), *(k.values((b, length, cache), t, "small") for _ in range(2))], attrs
    )


@recipe("LinearAttention")
def linear_attention(k: Kit):
    d, t = k.d, k.type()
    b, length, kv, rep, size, vsize = (
        d.whole(1, 2),
        d.size(9, 1),
        d.whole(1, 2),
        d.one(1, 1, 2),
        d.one(1, 4, 8, 9),
        d.one(1, 4, 7),
    )
    rule = d.one("linear", "gated", "delta", "gated_delta")
    inputs = [k.values((b, length, n), t, "small") for n in (kv * rep * size, kv * size, kv * vsize)]
    inputs.append(k.maybe(k.values((b, kv, size, vsize), k.type("S"), "small")))
    decay = d.one((b, length, kv * size), (b, length, kv))
    inputs.append((-np.abs(k.values(decay, t, "small"))).astype(t) if "gated" in rule else None)
    inputs.append(k.values(d.one((b, length, kv), (b, length, 1)), t, "unit") if "delta" in rule else None)
    attrs = {"q_num_heads": kv * rep, "kv_num_heads": kv, "update_rule": rule} | k.some(
        scale=d.real(0.1, 1), chunk_size=d.one(1, 4, 64)
    )
    return k.spec(inputs, attrs, 2)


@recipe("RNN", "GRU", "LSTM")
def recurrent(k: Kit):
    d, t = k.d, k.type()
    gates = {"RNN": 1, "GRU": 3, "LSTM": 4}[k.name]
    length, batch, size, hidden = d.size(9, 1), d.one(1, 1, 2, 3, 8), d.size(17, 1), d.size(17, 1)
    direction = d.one("forward", "forward", "reverse", "bidirectional")
    dirs = 2 if direction == "bidirectional" else 1
    layout = d.flag() if k.version >= 14 and d.chance(0.3) else 0
    attrs = {"hidden_size": hidden, "direction": direction} | ({"layout": 1} if layout else {})
    attrs |= k.some(clip=d.one(0.5, 3.0) if d.chance(0.3) else None)
    if d.chance(0.3):
        names = ("Tanh", "Relu", "Sigmoid", "Softsign", "Softplus")
        count = {"RNN": 1, "GRU": 2, "LSTM": 3}[k.name] * dirs
        attrs["activations"] = [d.of(names) for _ in range(count)]
        if {"Relu", "Softplus"} & set(
            attrs["activations"]
        ):  # without bounds, rounding errors grow with each step
            length = min(length, 2)
    if k.name == "GRU":
        attrs |= k.some(linear_before_reset=d.flag())
    if k.name == "LSTM":
        attrs |= k.some(input_forget=d.one(0, 0, 1))
    x = (batch, length, size) if layout else (length, batch, size)
    state = (batch, dirs, hidden) if layout else (dirs, batch, hidden)
    value = lambda *shape: k.values(shape, t, "small")  # noqa: E731
    lens = np.array([d.whole(1, length) for _ in range(batch)], np.int32)
    inputs = [value(*x), value(dirs, gates * hidden, size), value(dirs, gates * hidden, hidden)]
    inputs += [k.maybe(value(dirs, 2 * gates * hidden)), k.maybe(Control(lens), 0.3), k.maybe(value(*state))]
    if k.name == "LSTM":
        inputs += [k.maybe(value(*state)), k.maybe(value(dirs, 3 * hidden), 0.3)]
    count = 3 if k.name == "LSTM" else 2
    flags = [d.chance(0.7) for _ in range(count)]
    return k.spec(inputs, attrs, flags if any(flags) else [True] * count)
