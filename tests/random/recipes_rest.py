# SPDX-License-Identifier: Apache-2.0
"""Recipes: pictures, signals, losses, sequences, optional values, text, training."""

import numpy as np
from draw import FLOATS
from recipe import Control, Kit, Present, i64, recipe
from schema import number_of


@recipe("Resize")
def resize(k: Kit):
    d, t = k.d, k.type("T1" if "T1" in k.s.constraints else "T")
    rank = d.one(2, 3, 4, 4, 4, 5)
    spatial = d.whole(1, min(rank, 2))
    shape = tuple(d.whole(1, 3) if i < rank - spatial else d.whole(1, 7) for i in range(rank))
    mode = (
        d.one("nearest", "linear", "cubic") if spatial == 2 or k.version >= 18 else d.one("nearest", "linear")
    )
    if mode == "cubic" and (rank != 4 or k.version < 11):
        mode = "linear"
    attrs = {"mode": mode} | k.some(
        coordinate_transformation_mode=d.one("half_pixel", "asymmetric", "align_corners", "pytorch_half_pixel", "half_pixel_symmetric"),
        nearest_mode=d.one("round_prefer_floor", "round_prefer_ceil", "floor", "ceil") if mode == "nearest" else None,
        cubic_coeff_a=d.one(-0.5, -0.75) if mode == "cubic" else None,
        exclude_outside=d.flag() if mode == "cubic" else None,
        antialias=1 if mode != "nearest" and d.chance(0.3) else None,
    )  # fmt: skip
    if k.version < 19 and attrs.get("coordinate_transformation_mode") == "half_pixel_symmetric":
        del attrs["coordinate_transformation_mode"]
    scales = np.array(
        [1.0 if i < rank - spatial else d.one(0.5, 0.6, 1.0, 1.5, 2.0, 3.0) for i in range(rank)], np.float32
    )
    sizes = i64(*[n if i < rank - spatial else d.whole(1, 12) for i, n in enumerate(shape)])
    axes = list(range(rank - spatial, rank))
    if k.version >= 18 and d.chance(0.3):
        attrs["axes"], scales, sizes = axes, scales[axes], sizes[axes]
    x = k.values(shape, t, "small")
    if k.version == 10:
        return k.spec([x, Control(scales)], attrs)
    by_size = d.flag()
    empty = np.zeros(0, np.float32)
    roi, none = (None, None) if k.version >= 13 else (Control(empty), Control(empty))
    if by_size and k.version >= 18:
        attrs |= k.some(keep_aspect_ratio_policy=d.one("stretch", "not_larger", "not_smaller"))
    return k.spec([x, roi, none, Control(sizes)] if by_size else [x, roi, Control(scales)], attrs)


@recipe("Upsample")
def upsample(k: Kit):
    shape = (1, k.d.whole(1, 3), k.d.whole(1, 6), k.d.whole(1, 6))
    scales = np.array([1, 1, k.d.one(1.0, 2.0, 3.0), k.d.one(1.0, 2.0, 1.5)], np.float32)
    attrs = k.some(mode=k.d.one("nearest", "linear"))
    if k.version == 1:
        attrs = {"height_scale": float(scales[2]), "width_scale": float(scales[3])}
        return k.spec([k.values(shape, k.type(), "small")], attrs)
    return k.spec([k.values(shape, k.type(), "small"), Control(scales, "scales")], attrs)


@recipe("GridSample")
def grid_sample(k: Kit):
    d = k.d
    rank = d.one(2, 2, 3) if k.version >= 20 else 2
    shape = (d.whole(1, 2), d.size(9, 1), *(d.whole(1, 6) for _ in range(rank)))
    out = (shape[0], *(d.whole(0, 5) for _ in range(rank)), rank)
    t = k.type("T1", FLOATS)
    modes = ("linear", "nearest", "cubic") if k.version >= 20 else ("bilinear", "nearest", "bicubic")
    mode = d.of(modes if rank == 2 else modes[:2])
    attrs = k.some(padding_mode=d.one("zeros", "border", "reflection"), align_corners=d.flag()) | {
        "mode": mode
    }
    grid = np.asarray(d.numbers.random(out) * 3 - 1.5).astype(k.type("T2"))
    return k.spec([k.values(shape, t, "small"), grid], attrs)


@recipe("AffineGrid")
def affine_grid(k: Kit):
    rank = k.d.one(2, 3)
    n = k.d.whole(1, 3)
    size = i64(n, k.d.whole(1, 3), *(k.d.whole(1, 6) for _ in range(rank)))
    return k.spec(
        [k.values((n, rank, rank + 1), k.type("T1"), "small"), Control(size)],
        k.some(align_corners=k.d.flag()),
    )


@recipe("NonMaxSuppression")
def non_max_suppression(k: Kit):
    d = k.d
    batch, classes, boxes = d.whole(1, 2), d.whole(1, 3), d.whole(0, 12)
    corner = d.numbers.random((batch, boxes, 2)) * 5
    b = np.concatenate([corner, corner + d.numbers.random((batch, boxes, 2)) * 4], -1).astype(np.float32)
    limits = [
        Control(i64(d.whole(0, 5))),
        Control(np.array([d.real(0, 1)], np.float32)),
        Control(np.array([d.real(-1, 1)], np.float32)),
    ]
    given = d.whole(0, 3)
    return k.spec(
        [b, k.values((batch, classes, boxes), np.float32, "small"), *limits[:given]],
        k.some(center_point_box=d.flag()),
    )


@recipe("HannWindow", "HammingWindow", "BlackmanWindow")
def window(k: Kit):
    out = number_of(k.d.of(k.s.types("T2")))
    attrs = k.some(periodic=k.d.flag(), output_datatype=out)
    return k.spec([Control(np.array(k.d.size(40, 1), k.type("T1")))], attrs)


@recipe("DFT")
def dft(k: Kit):
    d = k.d
    shape = list(d.shape(d.whole(2, 4), least=1, most=200))
    shape[-1] = d.one(1, 2)
    axis = d.whole(0, len(shape) - 2) if d.chance(0.7) else len(shape) - 2
    inverse, onesided = d.flag(), 0
    if shape[-1] == 1 and not inverse:
        onesided = d.flag()
    if axis and k.version >= 20 and d.chance(0.4):
        axis -= len(shape)
    length = Control(np.array(d.size(17, 1), k.type("T2"))) if d.chance(0.4) else None
    axis_input = Control(np.array(axis, np.int64), "axis")
    inputs = [k.values(shape, k.type("T1"), "small"), length, axis_input]
    return k.spec(inputs, {"inverse": inverse, "onesided": onesided})


@recipe("STFT")
def stft(k: Kit):
    d, t = k.d, k.type("T1")
    length, frame = d.whole(8, 40), d.whole(2, 8)
    shape = (d.whole(1, 2), length, d.one(1, 1, 2))
    onesided = d.flag() if shape[-1] == 1 else 0
    u = k.type("T2")
    step, size = np.array(d.whole(1, 5), u), np.array(frame, u)
    which = d.whole(0, 2)
    inputs = [
        k.values(shape, t, "small"),
        Control(step),
        k.values((frame,), t, "small") if which != 1 else None,
    ]
    return k.spec([*inputs, Control(size) if which != 0 else None], {"onesided": onesided})


@recipe("MelWeightMatrix")
def mel(k: Kit):
    t, u = k.type("T1"), k.type("T2", {np.dtype(np.float32), np.dtype(np.float64)})
    whole = [np.array(v, t) for v in (k.d.whole(1, 8), k.d.one(16, 32), 8192)]
    edges = [np.array(v, u) for v in (k.d.one(0, 50), k.d.one(1000, 4000))]
    return k.spec([Control(v) for v in (*whole, *edges)], k.some(output_datatype=k.d.one(1, 11)))


@recipe("NegativeLogLikelihoodLoss", "SoftmaxCrossEntropyLoss")
def loss(k: Kit):
    d, t = k.d, k.type()
    n, c = d.size(5, 1), d.size(17, 1)
    rest = d.shape(d.one(0, 0, 1, 2), least=1, most=20)
    target = d.indices((n, *rest), c, k.type("Tind"), negative=False)
    attrs = k.some(reduction=d.one("none", "mean", "sum"), ignore_index=d.whole(0, c - 1))
    outputs = d.one(1, 2) if k.name[0] == "S" else 1
    return k.spec(
        [k.values((n, c, *rest), t, "small"), Control(target), k.maybe(k.values((c,), t, "positive"))],
        attrs,
        outputs,
    )


# Sequences


def _several(k: Kit, t, least: int = 1) -> list[np.ndarray]:
    rank = k.d.whole(0, 3)
    return [k.values(k.d.shape(rank, most=100), t) for _ in range(k.d.whole(least, 4))]


@recipe("SequenceConstruct")
def sequence_construct(k: Kit):
    return k.spec(_several(k, k.type()))


@recipe("SequenceAt", "SequenceErase", "SequenceInsert", "SequenceLength")
def sequence(k: Kit):
    t = (
        k.type("T", {np.dtype(np.float32), np.dtype(np.int64)})
        if "T" in k.s.constraints
        else np.dtype(np.float32)
    )
    items = _several(k, t)
    count = len(items)
    extra = 1 if k.name == "SequenceInsert" else 0
    at = Control(np.array(k.d.whole(-count, count - 1 + extra), k.d.one(np.int32, np.int64)))
    if k.name == "SequenceInsert":
        return k.spec([items, k.values(items[0].shape, t), k.maybe(at)])
    if k.name == "SequenceLength":
        return k.spec([items])
    return k.spec([items, at if k.name == "SequenceAt" else k.maybe(at)])


@recipe("SequenceEmpty")
def sequence_empty(k: Kit):
    return k.spec([], k.some(dtype=k.d.one(1, 7, 11)))


@recipe("SplitToSequence")
def split_to_sequence(k: Kit):
    shape = list(k.d.shape(k.d.whole(1, 4), most=300))
    axis = k.d.axis(len(shape))
    attrs = {"axis": axis} | k.some(keepdims=k.d.flag())
    t, u = k.type(), k.type("I")
    way = k.d.whole(0, 2)
    if way == 0:
        return k.spec([k.values(shape, t)], attrs)
    if way == 1:
        return k.spec([k.values(shape, t), Control(np.array(k.d.whole(1, 4), u))], attrs)
    sizes = [k.d.whole(0, 4) for _ in range(k.d.whole(1, 4))]
    shape[axis] = sum(sizes)
    return k.spec([k.values(shape, t), Control(np.array(sizes, u))], attrs)


@recipe("ConcatFromSequence")
def concat_from_sequence(k: Kit):
    shape, t = k.d.shape(k.d.whole(1, 3), most=100), np.dtype(np.float32)
    new = k.d.flag()
    axis = k.d.axis(len(shape) + new)
    items = []
    for _ in range(k.d.whole(1, 4)):
        part = list(shape)
        if not new:
            part[axis] = k.d.size(5)
        items.append(k.values(part, t))
    return k.spec([items], {"axis": axis, "new_axis": new})


@recipe("Optional", "OptionalHasElement", "OptionalGetElement")
def optional(k: Kit):
    """Since version 18 a tensor is as good as an optional."""
    value = k.values(k.d.shape(), np.float32)
    plain = k.name == "Optional" or k.version >= 18 and k.d.chance(0.5)
    return k.spec([value if plain else Present(value)])


# Text


@recipe("StringConcat")
def string_concat(k: Kit):
    shape = k.d.shape(most=60)
    return k.spec([k.values(k.d.broadcast(shape), object), k.values(k.d.broadcast(shape), object)])


@recipe("StringSplit")
def string_split(k: Kit):
    return k.spec(
        [k.values(k.d.shape(most=60), object)],
        k.some(delimiter=k.d.one("", " ", "a", "-"), maxsplit=k.d.whole(0, 3)),
        2,
    )


@recipe("StringNormalizer")
def string_normalizer(k: Kit):
    shape = k.d.one((k.d.whole(1, 9),), (1, k.d.whole(1, 9)))
    attrs = k.some(
        case_change_action=k.d.one("NONE", "LOWER", "UPPER"),
        is_case_sensitive=k.d.flag(),
        stopwords=["cat", "a"],
    )
    x = k.values(shape, object)
    x[x == "ß"] = "s"
    return k.spec([x], attrs)


@recipe("RegexFullMatch")
def regex(k: Kit):
    pattern = k.d.one("a", "[a-z]+", "c.t", "(cat|dog)", "\\d+", "-?\\d+\\.\\d*", ".*", "a?", "[^a]")
    return k.spec([k.values(k.d.shape(most=60), object)], {"pattern": pattern})


@recipe("TfIdfVectorizer")
def tf_idf(k: Kit):
    pool = [1, 2, 3, 1, 2, 2, 3, 1, 2, 3]
    attrs = {
        "mode": k.d.one("TF", "IDF", "TFIDF"), "min_gram_length": k.d.whole(1, 2), "max_gram_length": k.d.whole(2, 3),
        "max_skip_count": k.d.whole(0, 2), "ngram_counts": [0, 3, 7], "ngram_indexes": [0, 1, 2, 3, 4, 5], "pool_int64s": pool,
    }  # fmt: skip
    if k.d.chance(0.5):
        attrs["weights"] = [0.5, 1.0, 1.5, 2.0, 2.5, 3.0]
    shape = k.d.one((k.d.whole(1, 9),), (k.d.whole(1, 3), k.d.whole(1, 9)))
    return k.spec([np.asarray(k.d.numbers.integers(1, 4, shape)).astype(k.d.one(np.int32, np.int64))], attrs)


@recipe("Adagrad", "Adam", "Momentum", domain="ai.onnx.preview.training")
def training(k: Kit):
    t = k.type("T3")
    r, step = np.array(k.d.real(0.01, 0.5), k.type("T1")), np.array(k.d.whole(0, 5), np.int64)
    shapes = [k.d.shape(most=100) for _ in range(k.d.whole(1, 2))]
    groups = {"Adagrad": 3, "Momentum": 3, "Adam": 4}[k.name]
    tensors = [k.values(s, t, "positive") for _ in range(groups) for s in shapes]
    attrs = {
        "norm_coefficient": k.d.real(0, 0.1),
        "alpha": 0.9,
        "beta": 0.8,
        "mode": k.d.one("standard", "nesterov"),
    }
    attrs |= k.some(epsilon=0.01, decay_factor=0.1)
    if k.name == "Adam":
        attrs["alpha"], attrs["beta"] = 0.9, 0.99
    return k.spec([Control(r), Control(step), *tensors], attrs, (groups - 1) * len(shapes))
