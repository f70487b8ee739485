# SPDX-License-Identifier: Apache-2.0
"""Recipes: operators that move, select and shape elements."""

import numpy as np
from draw import BOOL, FLOATS, STRING
from recipe import Control, Kit, i64, recipe


def factored(k: Kit, count: int, rank: int) -> list[int]:
    """A random shape of this many elements."""
    shape = []
    for _ in range(max(rank - 1, 0)):
        divisors = [f for f in (1, 2, 3, 4, 5, 7, 8, 11, 13, 16) if count and count % f == 0] or [
            0 if not count else 1
        ]
        f = k.d.of(divisors)
        shape.append(f)
        count = count // f if f else k.d.whole(0, 4)
    if rank:
        shape.append(count)
    k.d.random.shuffle(shape)
    return shape


@recipe("Reshape")
def reshape(k: Kit):
    shape = k.d.shape()
    count = int(np.prod(shape))
    target = factored(k, count, k.d.whole(0 if count == 1 else 1, 5))
    attrs = k.some(allowzero=k.d.flag())
    if count == 0 and 0 not in target:
        target[0] = 0
    if count == 0 and not attrs.get("allowzero"):
        target = list(shape)  # a zero copies
    elif target and count and k.d.chance(0.4):
        target[k.d.whole(0, len(target) - 1)] = -1
    if target and count and not attrs.get("allowzero"):
        target = [
            0 if i < len(shape) and t == shape[i] and k.d.chance(0.5) else t for i, t in enumerate(target)
        ]
    return k.spec([k.values(shape, k.type()), Control(i64(*target), "shape")], attrs)


@recipe("Flatten")
def flatten(k: Kit):
    shape = k.d.shape(None if k.version >= 11 else k.d.whole(1, 5))
    low = -len(shape) if k.version >= 11 else 0
    return k.spec([k.values(shape, k.type())], {"axis": k.d.whole(low, len(shape))})


@recipe("Transpose")
def transpose(k: Kit):
    shape = k.d.shape()
    perm = k.d.random.sample(range(len(shape)), len(shape))
    return k.spec([k.values(shape, k.type())], k.some(perm=perm) if perm else {})


@recipe("Squeeze")
def squeeze(k: Kit):
    shape = tuple(1 if k.d.chance(0.4) else n for n in k.d.shape(k.d.whole(0, 6)))
    ones = [i for i, n in enumerate(shape) if n == 1]
    axes = k.d.random.sample(ones, k.d.whole(0, len(ones)))
    if k.version >= 11 and k.d.chance(0.4):
        axes = [a - len(shape) for a in axes]
    return k.spec(
        [k.values(shape, k.type()), Control(i64(*axes), "axes") if axes and k.d.chance(0.8) else None]
    )


@recipe("Unsqueeze")
def unsqueeze(k: Kit):
    shape = k.d.shape(k.d.whole(0, 4))
    count = k.d.whole(1, 3)
    rank = len(shape) + count
    axes = k.d.random.sample(range(rank), count)
    if k.version >= 11 and k.d.chance(0.4):
        axes = [a - rank for a in axes]
    if k.version < 13:
        axes.sort()
    return k.spec([k.values(shape, k.type()), Control(i64(*axes), "axes")])


@recipe("Expand")
def expand(k: Kit):
    shape = k.d.shape()
    small = k.d.broadcast(shape)
    target = list(shape)
    if k.d.chance(0.3) and len(small) == len(shape):
        target = [1 if s == n and k.d.chance(0.4) else n for s, n in zip(small, shape, strict=True)]
    return k.spec([k.values(small, k.type()), Control(i64(*target))])


@recipe("Tile")
def tile(k: Kit):
    if k.version == 1:
        shape = k.d.shape(k.d.whole(1, 3), most=200)
        t = k.type()
        return k.spec([k.values(shape, t), Control(np.array(2, t)), Control(np.array(0, t))])
    shape = k.d.shape(most=300)
    repeats = [k.d.one(0, 1, 1, 1, 2, 3) for _ in shape]
    return k.spec([k.values(shape, k.type()), Control(i64(*repeats))])


@recipe("Slice")
def slice(k: Kit):
    shape = k.d.shape(k.d.whole(1, 6))
    rank = len(shape)
    axes = k.d.axes(rank, 1, k.version >= 10)
    far = [2**31 - 1, -(2**31), 2**63 - 1, -(2**63) + 1]
    pick = lambda n: k.d.of(far) if k.d.chance(0.1) else k.d.whole(-n - 2, n + 2)  # noqa: E731
    if k.version < 10:
        starts = [k.d.whole(-shape[a], shape[a]) for a in axes]
        return k.spec(
            [k.values(shape, k.type())],
            {"starts": starts, "ends": [k.d.whole(-shape[a], shape[a] + 3) for a in axes], "axes": axes},
        )
    t = k.d.one(np.int32, np.int64)
    narrow = [v for v in far if -(2**31) <= v < 2**31]
    far = narrow if t == np.int32 else far
    starts, ends = [[pick(shape[a]) for a in axes] for _ in range(2)]
    steps = [k.d.one(1, 1, 1, 2, 3, -1, -1, -2) for _ in axes]
    if k.d.chance(0.3):
        axes, count = list(range(len(axes))), len(axes)
        given = None if k.d.chance(0.7) else Control(np.array(axes[:count], t))
    else:
        given = Control(np.array(axes, t))
    inputs = [Control(np.array(v, t)) for v in (starts, ends)]
    return k.spec([k.values(shape, k.type()), *inputs, given, k.maybe(Control(np.array(steps, t)))])


@recipe("Split")
def split(k: Kit):
    shape = list(k.d.shape(k.d.whole(1, 5)))
    axis = k.d.axis(len(shape), k.version >= 11)
    count = k.d.whole(1, 5)
    data = lambda: k.values(shape, k.type())  # noqa: E731
    if k.version == 18 and k.d.chance(0.4):
        shape[axis] = max(shape[axis], count) if k.d.chance(0.7) else shape[axis]
        whole = -(-shape[axis] // count) if shape[axis] else 0
        if shape[axis] and whole * (count - 1) < shape[axis]:
            return k.spec([data()], {"axis": axis, "num_outputs": count}, count)
    if k.d.chance(0.3):
        shape[axis] = k.d.whole(0, 4) * count
        if k.version >= 18:
            return k.spec([data()], {"axis": axis, "num_outputs": count}, count)
        return k.spec([data()], {"axis": axis}, count)
    sizes = [k.d.whole(0, 5) for _ in range(count)]
    shape[axis] = sum(sizes)
    return k.spec([data(), Control(i64(*sizes), "split")], {"axis": axis}, count)


@recipe("Concat")
def concat(k: Kit):
    shape, t = k.d.shape(k.d.whole(1, 5), most=400), k.type()
    axis = k.d.axis(len(shape), k.version >= 11)
    parts = []
    for _ in range(k.d.one(1, 2, 2, 3, 5)):
        part = list(shape)
        part[axis] = k.d.size(9)
        parts.append(k.values(part, t))
    return k.spec(parts, {"axis": axis} if k.version >= 4 else {"axis": axis % len(shape)})


@recipe("Pad")
def pad(k: Kit):
    shape, t = k.d.shape(k.d.whole(1, 5), most=300), k.type()
    mode = k.d.one("constant", "constant", "reflect", "edge", "wrap")
    if mode == "wrap" and k.version < 19:
        mode = "constant"
    axes = None
    if k.version >= 18 and k.d.chance(0.3):
        axes = k.d.axes(len(shape), 1)
    sizes = [shape[a] for a in axes] if axes is not None else shape
    low = -1 if mode == "constant" and k.d.chance(0.2) else 0
    pads = []
    for n in (*sizes, *sizes):
        top = 4 if mode == "constant" else max(n - 1, 0)
        pads.append(k.d.whole(max(low, -(n // 2)), min(top, 4)))
    if k.version < 11:
        return k.spec(
            [k.values(shape, t)], {"pads": pads, "paddings": pads, "mode": mode, "value": k.d.real(-1, 1)}
        )
    value = k.values((), t) if t != STRING else np.array("pad", object)
    given = Control(np.array(axes, k.d.one(np.int32, np.int64))) if axes is not None else None
    return k.spec(
        [k.values(shape, t), Control(i64(*pads)), k.maybe(Control(value)), given],
        k.some(mode=mode) if mode == "constant" else {"mode": mode},
    )


@recipe("Gather")
def gather(k: Kit):
    shape = k.d.shape(k.d.whole(1, 4), most=300)
    axis = k.d.axis(len(shape), k.version >= 11)
    at = k.d.indices(
        k.d.shape(k.d.whole(0, 2), most=20), shape[axis], k.d.one(np.int32, np.int64), k.version >= 11
    )
    return k.spec(
        [k.values(shape, k.type()), Control(at)], k.some(axis=axis) if axis == 0 else {"axis": axis}
    )


@recipe("GatherElements")
def gather_elements(k: Kit):
    shape = k.d.shape(k.d.whole(1, 4))
    axis = k.d.axis(len(shape))
    at = [k.d.whole(0, n) if i != axis % len(shape) else k.d.size(9) for i, n in enumerate(shape)]
    if shape[axis] == 0:
        at[axis] = 0
    indices = np.zeros(at, np.int64) if 0 in at else k.d.indices(at, shape[axis], np.int64)
    t = k.d.one(np.int32, np.int64)
    return k.spec([k.values(shape, k.type()), Control(indices.astype(t))], {"axis": axis})


def _nd(k: Kit, shape, batch: int):
    """Indices for GatherND and ScatterND, and how many axes they name."""
    depth = k.d.whole(1, len(shape) - batch)
    lead = (*shape[:batch], *k.d.shape(k.d.whole(1 if not batch else 0, 2), most=12))
    if 0 in shape[batch : batch + depth]:
        lead = (*lead, 0)
    parts = [k.d.indices(lead, max(n, 1), np.int64) for n in shape[batch : batch + depth]]
    return np.stack([p.reshape(lead) for p in parts], -1), depth


@recipe("GatherND")
def gather_nd(k: Kit):
    shape = k.d.shape(k.d.whole(1, 4), most=300)
    batch = k.d.whole(0, len(shape) - 1) if k.version >= 12 and k.d.chance(0.4) else 0
    indices, _ = _nd(k, shape, batch)
    return k.spec([k.values(shape, k.type()), Control(indices)], {"batch_dims": batch} if batch else {})


def _reduction(k: Kit, t) -> dict:
    names = {16: ("none", "add", "mul"), 18: ("none", "add", "mul", "max", "min")}.get(k.version, ("none",))
    if t == STRING or t == BOOL or t.kind == "c":
        return {}
    return k.some(reduction=k.d.of(names))


@recipe("ScatterND")
def scatter_nd(k: Kit):
    shape, t = k.d.shape(k.d.whole(1, 4), most=300), k.type()
    indices, depth = _nd(k, shape, 0)
    attrs = _reduction(k, t)
    if attrs.get("reduction", "none") == "none":  # twice the same place has no defined result
        flat = indices.reshape(-1, depth)
        low = flat % np.array(shape[:depth])
        _, first = np.unique(low, axis=0, return_index=True)
        indices = flat[np.sort(first)]
    updates = k.values((*indices.shape[:-1], *shape[depth:]), t)
    return k.spec([k.values(shape, t), Control(indices), updates], attrs)


@recipe("ScatterElements", "Scatter")
def scatter_elements(k: Kit):
    shape, t = k.d.shape(k.d.whole(1, 4), most=300), k.type()
    axis = k.d.axis(len(shape), k.name == "ScatterElements")
    at = [k.d.whole(0, n) for n in shape]
    attrs = _reduction(k, t)
    indices = np.zeros(at, np.int64)
    if indices.size:
        if attrs.get("reduction", "none") == "none":
            order = np.argsort(
                k.d.numbers.random([*(n for i, n in enumerate(at) if i != axis % len(at)), shape[axis]]), -1
            )
            indices = np.moveaxis(order[..., : at[axis]], -1, axis).astype(np.int64)
        else:
            indices = k.d.indices(at, shape[axis])
    t_index = k.d.one(np.int32, np.int64)
    return k.spec(
        [k.values(shape, t), Control(indices.astype(t_index)), k.values(at, t)], attrs | {"axis": axis}
    )


@recipe("Compress")
def compress(k: Kit):
    shape = k.d.shape(k.d.whole(1, 5))
    axis = k.d.axis(len(shape), k.version >= 11) if k.d.chance(0.7) else None
    size = int(np.prod(shape)) if axis is None else shape[axis]
    condition = k.values((k.d.whole(0, size),), bool)
    return k.spec([k.values(shape, k.type()), Control(condition)], {"axis": axis})


@recipe("NonZero")
def non_zero(k: Kit):
    return k.spec([k.values(k.d.shape(k.d.whole(1, 5)), k.type())])


@recipe("OneHot")
def one_hot(k: Kit):
    depth = k.d.whole(1, 9)
    t1, t2, t3 = k.type("T1"), k.type("T2"), k.type("T3")
    shape = k.d.shape(k.d.whole(0, 3), most=200)
    indices = k.d.numbers.integers(-depth - 1 if t1.kind != "u" else 0, depth + 1, shape)
    indices = np.asarray(indices).astype(t1)
    attrs = k.some(axis=k.d.whole(-len(shape) - 1, len(shape)))
    amount = Control(np.array(depth, t2) if k.d.chance(0.5) else np.array([depth], t2))
    return k.spec([indices, amount, Control(k.values((2,), t3))], attrs)


@recipe("Trilu")
def trilu(k: Kit):
    return k.spec(
        [
            k.values(k.d.shape(k.d.whole(2, 5)), k.type()),
            k.maybe(Control(np.array(k.d.whole(-5, 5), np.int64))),
        ],
        k.some(upper=k.d.flag()),
    )


@recipe("ConstantOfShape")
def constant_of_shape(k: Kit):
    t = k.d.of(k.s.types("T2"))
    return k.spec([Control(i64(*k.d.shape()))], k.some(value=k.values((1,), t)))


@recipe("Constant")
def constant(k: Kit):
    if k.has("value_int") and k.d.chance(0.5):
        choice = k.d.one(
            "value_int", "value_float", "value_ints", "value_floats", "value_string", "value_strings"
        )
        value = {
            "value_int": 3,
            "value_float": 1.5,
            "value_ints": [1, 2],
            "value_floats": [1.5, 2.5],
            "value_string": "s",
            "value_strings": ["a", "b"],
        }
        return k.spec([], {choice: value[choice]})
    return k.spec([], {"value": k.values(k.d.shape(), k.d.of(k.s.types("T")))})


@recipe("Shape")
def shape_of(k: Kit):
    shape = k.d.shape()
    attrs = k.some(
        start=k.d.whole(-len(shape) - 2, len(shape) + 2), end=k.d.whole(-len(shape) - 2, len(shape) + 2)
    )
    return k.spec([k.values(shape, k.type())], attrs)


@recipe("DepthToSpace")
def depth_to_space(k: Kit):
    b, c = k.d.whole(1, 3), k.d.size(9, 1)
    shape = (k.d.size(3), c * b * b, k.d.size(5), k.d.size(5))
    return k.spec([k.values(shape, k.type())], {"blocksize": b} | k.some(mode=k.d.one("DCR", "CRD")))


@recipe("SpaceToDepth")
def space_to_depth(k: Kit):
    b = k.d.whole(1, 3)
    shape = (k.d.size(3), k.d.size(9, 1), k.d.size(5) * b, k.d.size(5) * b)
    return k.spec([k.values(shape, k.type())], {"blocksize": b} | k.some(mode=k.d.one("DCR", "CRD")))


@recipe("ReverseSequence")
def reverse_sequence(k: Kit):
    shape = k.d.shape(k.d.whole(2, 4), least=1)
    time = k.d.whole(0, 1)
    lens = i64(*[k.d.whole(1, shape[time]) for _ in range(shape[1 - time])])
    return k.spec([k.values(shape, k.type()), Control(lens)], {"batch_axis": 1 - time, "time_axis": time})


@recipe("Unique")
def unique(k: Kit):
    shape = k.d.shape(k.d.whole(1, 3), most=200)
    attrs = k.some(sorted=k.d.flag())
    if k.d.chance(0.5):
        attrs["axis"] = k.d.axis(len(shape))
    t = k.type()
    x = k.values(shape, t, "small")
    if t in FLOATS:
        x = np.round(x)
    return k.spec([x], attrs, [True, *(bool(k.d.flag()) for _ in range(3))])


@recipe("CenterCropPad")
def center_crop_pad(k: Kit):
    shape = k.d.shape(k.d.whole(1, 4), most=300)
    axes = k.d.axes(len(shape), 1)
    target = [k.d.size(9) for _ in axes]
    if k.d.chance(0.3):
        axes, target = None, [k.d.size(9) for _ in shape]
    return k.spec(
        [k.values(shape, k.type()), Control(np.array(target, k.d.one(np.int32, np.int64)))], {"axes": axes}
    )


@recipe("Col2Im")
def col2im(k: Kit):
    image = [k.d.whole(3, 8) for _ in range(2)]
    block = [k.d.whole(1, 3) for _ in range(2)]
    dilations, strides = [[k.d.whole(1, 2) for _ in range(2)] for _ in range(2)]
    pads = [k.d.whole(0, 2) for _ in range(4)]
    counts = [
        (image[i] + pads[i] + pads[i + 2] - dilations[i] * (block[i] - 1) - 1) // strides[i] + 1
        for i in range(2)
    ]
    columns = max(counts[0], 0) * max(counts[1], 0)
    x = k.values((k.d.size(3, 1), k.d.size(4, 1) * block[0] * block[1], columns), k.type(), "small")
    attrs = {"dilations": dilations, "strides": strides, "pads": pads}
    return k.spec([x, Control(i64(*image)), Control(i64(*block))], attrs)


@recipe("TensorScatter")
def tensor_scatter(k: Kit):
    shape = list(k.d.shape(k.d.whole(2, 4), least=1, most=300))
    axis = k.d.whole(1, len(shape) - 1)
    update = list(shape)
    update[axis] = k.d.whole(1, shape[axis])
    room = shape[axis] - update[axis]
    circular = k.d.flag()
    at = i64(*[k.d.whole(0, shape[axis] - 1 if circular else room) for _ in range(shape[0])])
    t = k.type()
    attrs = {"axis": k.d.one(axis, axis - len(shape)), "mode": "circular" if circular else "linear"}
    return k.spec([k.values(shape, t), k.values(update, t), k.maybe(Control(at), 0.8)], attrs)
