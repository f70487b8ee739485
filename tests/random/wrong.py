# SPDX-License-Identifier: Apache-2.0
"""Spoils a node: sizes, ranks, types, contents or attributes that the standard may forbid."""

import numpy as np
from draw import Draw
from recipe import Control, Spec

from net import Net

EXTREMES = (-(2**63), -(2**31), -100, -3, -2, -1, 0, 1, 2, 7, 1000, 2**31 - 1, 2**31, 2**40, 2**62, 2**63 - 1)
TYPES = (np.float32, np.float64, np.float16, np.int64, np.int32, np.uint8, np.int8, np.bool_)


def spoil(draw: Draw, spec: Spec) -> None:
    for _ in range(draw.one(1, 1, 1, 2)):
        ways = [attribute] if spec.schema.attributes else []
        if any(value is not None for value in spec.inputs):
            ways += [shape, shape, shape, contents, contents, kind, missing]
        if ways:
            draw.of(ways)(draw, spec)


def _pick(draw: Draw, spec: Spec, which) -> int | None:
    places = [i for i, value in enumerate(spec.inputs) if which(value)]
    return draw.of(places) if places else None


def _replace(spec: Spec, at: int, array: np.ndarray) -> None:
    old = spec.inputs[at]
    spec.inputs[at] = Control(array, old.attribute) if isinstance(old, Control) else array


def _array(value):
    return value.array if isinstance(value, Control) else value


def shape(draw: Draw, spec: Spec) -> None:
    at = _pick(draw, spec, lambda value: isinstance(_array(value), np.ndarray))
    if at is None:
        return
    _replace(spec, at, reshaped(draw, _array(spec.inputs[at])))


def reshaped(draw: Draw, old: np.ndarray) -> np.ndarray:
    """Another shape with some of the same contents."""
    sizes = list(old.shape)
    way = draw.one("grow", "shrink", "empty", "drop", "add", "swap", "one")
    if way == "add" or not sizes:
        sizes.insert(draw.whole(0, len(sizes)), draw.one(0, 1, 2, 3))
    else:
        axis = draw.whole(0, len(sizes) - 1)
        if way == "drop":
            sizes.pop(axis)
        elif way == "swap":
            sizes.reverse()
        else:
            sizes[axis] = {
                "grow": sizes[axis] + draw.whole(1, 9),
                "shrink": max(sizes[axis] - 1, 0),
                "empty": 0,
                "one": 1,
            }[way]
    count = int(np.prod(sizes))
    flat = old.reshape(-1)
    if flat.size == 0 and count:
        flat = np.ones(1, old.dtype) if old.dtype != object else np.array(["x"], object)
    return np.resize(flat, count).astype(old.dtype).reshape(sizes)


def contents(draw: Draw, spec: Spec) -> None:
    whole = lambda v: isinstance(_array(v), np.ndarray) and _array(v).dtype.kind in "iu" and _array(v).size  # noqa: E731
    at = _pick(draw, spec, lambda v: isinstance(v, Control) and whole(v))
    if at is None:
        at = _pick(draw, spec, whole)
    if at is None:
        return
    array = _array(spec.inputs[at]).copy()
    info = np.iinfo(array.dtype)
    value = min(max(draw.of(EXTREMES), info.min), info.max)
    array.reshape(-1)[draw.whole(0, array.size - 1)] = value
    _replace(spec, at, array)


def kind(draw: Draw, spec: Spec) -> None:
    at = _pick(draw, spec, lambda v: isinstance(_array(v), np.ndarray) and _array(v).dtype != object)
    if at is None:
        return
    with np.errstate(all="ignore"):
        _replace(spec, at, np.zeros(_array(spec.inputs[at]).shape, draw.of(TYPES)))


def missing(draw: Draw, spec: Spec) -> None:
    at = draw.whole(0, len(spec.inputs) - 1)
    if draw.chance(0.3):
        spec.inputs.append(np.ones(draw.one((), (1,), (2, 2)), np.float32))
    elif draw.chance(0.5):
        spec.inputs[at] = None
    else:
        spec.inputs.pop()


def attribute(draw: Draw, spec: Spec) -> None:
    name = draw.of(sorted(spec.schema.attributes))
    kind, old = spec.schema.attributes[name], spec.attrs.get(name)
    if kind == 1:
        spec.attrs[name] = draw.one(float("nan"), float("inf"), -1.0, 0.0, 1e30)
    elif kind == 2:
        spec.attrs[name] = draw.of(EXTREMES)
    elif kind == 3:
        spec.attrs[name] = draw.one("", "nonsense", "SAME_UPPER", "linear")
    elif kind == 7:
        values = list(old or [1, 1])
        way = draw.one("value", "value", "longer", "shorter", "empty")
        if way == "value":
            values[draw.whole(0, len(values) - 1)] = draw.of(EXTREMES)
        elif way == "longer":
            values += [draw.of(EXTREMES[3:10])]
        else:
            values = values[:-1] if way == "shorter" else []
        spec.attrs[name] = values
    elif kind == 6:
        values = list(old or [1.0])
        spec.attrs[name] = draw.one(values + [1.0], values[:-1], [float("nan")] * len(values))
    elif old is not None and draw.chance(0.5):
        del spec.attrs[name]


def spoil_net(draw: Draw, net: Net) -> None:
    """Another shape or other contents of something that a graph is fed or holds."""
    for _ in range(draw.one(1, 1, 2)):
        store = net.feeds if draw.chance(0.7) or not net.constants else net.constants
        name = draw.of(sorted(store))
        if store[name].dtype.kind == "i" and store[name].size and draw.chance(0.6):
            array = store[name].copy()
            array.reshape(-1)[draw.whole(0, array.size - 1)] = draw.of(EXTREMES[2:11])
            store[name] = array
        else:
            store[name] = reshaped(draw, store[name])
        if store is net.feeds and net.shapes.get(name) is not None:  # the feed agrees with what is declared
            net.shapes[name] = draw.one(
                None, [net.name("w") for _ in store[name].shape], list(store[name].shape)
            )
