# SPDX-License-Identifier: Apache-2.0
"""A case: a model and what is fed, made from a seed, a kind and a number, and nothing else."""

from dataclasses import dataclass
from functools import cache

import graphs
import ml_dtypes
import mutants
import numpy as np
import recipes_math
import recipes_ml
import recipes_nn
import recipes_rest
import recipes_shape
import wrong
from draw import FLOATS, Draw
from recipe import ABSOLUTE, BY_TYPE, OVERFLOWING, RANDOM, RECIPES, Control, Kit, Present, Spec
from schema import NEWEST, all_schemas, element_types, number_of

import net as nets
import sardonyx
from net import Net

__all__ = ["recipes_math", "recipes_ml", "recipes_nn", "recipes_rest", "recipes_shape"]
BLOCK = 250  # cases in a row that share a vector level, because a process has one


@dataclass
class Case:
    label: str  # operator and version, or the pattern of a graph
    net: Net
    wrong: bool
    threads: int
    rules: bool
    random: bool = False  # results have only types and shapes
    absolute: bool = True  # errors of a few units of 1 are rounding
    overflows: bool = True  # what overflows may depend on the order of sums
    feeds_back: bool = False  # what overflows once is everywhere later
    by_type: bool = False  # float64 would mean something else: the reference is the truth
    spec: Spec | None = None  # of a node
    finished: bool = False  # nothing can be put between its nodes
    other: dict | None = None  # a second feed of another size, for the same session

    @property
    def nodes(self) -> list[tuple]:
        return (self.net.inside or self.net).nodes

    @property
    def notes(self) -> list[str]:
        return [f"has {node[0]}" for node in self.nodes] + (notes(self.spec) if self.spec else [])

    @property
    def has_tail(self) -> bool:
        """Do other nodes follow the one that is meant?"""
        return self.spec is not None and self.nodes[-1][0] != self.spec.schema.name

    @property
    def before_tail(self) -> set[str]:
        """The float32 results that the nodes behind the one that is meant go on with."""
        names = [node[0] for node in self.nodes]
        first = names.index(self.spec.schema.name) if self.has_tail else len(names)
        return {node[3][0] for node in self.nodes[first:-1]}

    def bytes(self, constants=None) -> bytes:
        return self.net.model(constants).SerializeToString()


def operators(wanted: list[str] | None) -> list[tuple[str, str]]:
    """Domain and name of what we can draw and have; `wanted` limits it."""
    return [key for key in _ours() if not wanted or key[1] in wanted]


@cache
def _ours() -> list[tuple[str, str]]:
    """Operators with a recipe that this build knows: it says so itself."""
    found = []
    for key, versions in all_schemas().items():
        if key not in RECIPES or not versions:
            continue
        net = Net(NEWEST[""], {key[0]: versions[-1].last} if key[0] else {})
        net.opset = net.opset if key[0] else versions[-1].last
        net.outputs = [net.node(key[1], [], domain=key[0])]
        try:
            sardonyx.load(net.model().SerializeToString(), threads=1)
        except Exception as error:
            if "is not known here" in str(error):
                continue
        found.append(key)
    return found


def make(seed: int, kind: str, number: int, wanted: list[str] | None = None) -> Case:
    draw = Draw(seed, kind, number, ",".join(wanted or ()))
    if kind == "mutant":
        label, net = mutants.make(draw)
        return Case(label, net, True, draw.one(1, 1, 2), draw.chance(0.75), finished=True)
    if kind == "graph" or kind == "wrong" and not wanted and draw.chance(0.3):
        label, net = graphs.make(draw)
        if kind == "wrong":
            wrong.spoil_net(draw, net)
        case = Case(label, net, kind == "wrong", 1, True)
    else:
        spec = node(draw, wanted)
        if kind == "wrong":
            wrong.spoil(draw, spec)
        net = surround(draw, spec, kind == "wrong")
        case = Case(spec.label, net, kind == "wrong", 1, True, spec.schema.name in RANDOM)
        case.absolute = spec.schema.name in ABSOLUTE or len(net.nodes) > 1
        case.overflows = spec.schema.name in OVERFLOWING or len(net.nodes) > 1
        case.feeds_back = spec.schema.name in ("RNN", "GRU", "LSTM")
        case.by_type = spec.schema.name in BY_TYPE
        case.spec = spec
    if kind == "wrong" and draw.chance(0.15):
        case.net = case.net.in_a_branch()
    case.threads = 2 if draw.chance(0.25) else 1
    case.rules = draw.chance(0.75)
    if draw.chance(0.3):
        case.other = resized(draw, case.net)
    return case


def resized(draw: Draw, net: Net) -> dict | None:
    """The feeds with one size changed wherever it stands at an axis that the model leaves open."""

    def is_open(name: str, axis: int) -> bool:
        shape = net.shapes.get(name)
        return shape is None or not isinstance(shape[axis], int)

    arrays = {name: a for name, a in net.feeds.items() if isinstance(a, np.ndarray)}
    sizes = sorted({n for name, a in arrays.items() for axis, n in enumerate(a.shape) if is_open(name, axis)})
    if not sizes:
        return None
    old = draw.of(sizes)
    new = max(old + draw.one(-2, -1, 1, 2, 9), 0)
    feeds = dict(net.feeds)
    for name, a in arrays.items():
        shape = [new if n == old and is_open(name, axis) else n for axis, n in enumerate(a.shape)]
        if shape != list(a.shape) and (a.size or not np.prod(shape)):
            feeds[name] = np.resize(a, shape).astype(a.dtype)
    return feeds if any(feeds[name] is not a for name, a in arrays.items()) else None


def notes(spec: Spec) -> list[str]:
    """What the list of known differences may ask for."""
    found = [f"{key}={value}" for key, value in spec.attrs.items() if isinstance(value, int | float | str)]
    found += [f"no {a}" for a in spec.schema.attributes if a not in spec.attrs]
    found += [f"activation={name}" for name in spec.attrs.get("activations") or ()]
    found.append(f"opset={spec.opset}")
    if any(n > 1 for n in spec.attrs.get("dilations") or ()):
        found.append("dilated")
    kernel, strides = (spec.attrs.get(key) or () for key in ("kernel_shape", "strides"))
    if any(k < s for k, s in zip(kernel, strides, strict=False)):
        found.append("kernel below stride")
    for i, value in enumerate(spec.inputs):
        array = value.array if isinstance(value, Control) else value
        if array is None:
            found.append(f"no input {i}")
        elif isinstance(array, np.ndarray):
            found.append(f"type={array.dtype.name}")
            if i == 0:
                found.append(f"first={array.dtype.name}")
            if array.size == 0:
                found += ["empty", "first empty"] if i == 0 else ["empty"]
            if extreme(array):
                found.append("extreme")
            if array.ndim == 0:
                found.append(f"scalar {i}")
            found += contents(array)
    return found


def contents(array: np.ndarray) -> list[str]:
    """What stands in an input, as far as peers are known to stumble over it."""
    if array.dtype == object:
        texts = [str(text) for text in array.reshape(-1)]
        found = ["text without words"] if any(not text.strip() for text in texts) else []
        return found + (["text with accents"] if any(not text.isascii() for text in texts) else [])
    if array.dtype.kind == "i" and array.size and array.max() >= np.iinfo(np.int32).max:
        return ["far end"]
    if array.dtype in FLOATS and array.size:
        with np.errstate(all="ignore"):
            size = np.abs(array.astype(np.float64))
            size = size[np.isfinite(size) & (size > 0)]
        return ["wide"] if size.size and size.max() > 1e3 * np.median(size) else []
    return []


def extreme(a) -> bool:
    """Are there numbers whose square the type cannot hold, infinities or NaN?"""
    if not isinstance(a, np.ndarray) or a.dtype not in FLOATS:
        return False
    with np.errstate(all="ignore"):
        return not bool((np.abs(a.astype(np.float64)) < float(ml_dtypes.finfo(a.dtype).max) ** 0.5).all())


def node(draw: Draw, wanted: list[str] | None) -> Spec:
    key = draw.of(operators(wanted))
    versions = all_schemas()[key]
    schema = versions[-1] if draw.chance(0.4) else draw.of(versions)
    last = min(schema.last, graphs.PEER_OPSET) if not key[0] and draw.chance(0.85) else schema.last
    last = max(last, schema.since)
    opset = draw.one(schema.since, last, draw.whole(schema.since, last))
    return RECIPES[key](Kit(draw, schema, opset))


# Where a node's inputs come from


def surround(draw: Draw, spec: Spec, loose: bool) -> Net:
    """A model of this node: inputs fed or constant, declared in some way, perhaps through other nodes first and with
    others behind."""
    domain = spec.schema.domain
    opset = spec.opset if not domain else graphs.PEER_OPSET - draw.whole(0, 8)
    net = Net(opset, {domain: spec.opset} if domain else {})
    source = Source(draw, net, loose)
    constant, plain = draw.one(0.1, 0.1, 0.5, 0.9), draw.chance(0.5)
    names = [source.input(value, constant, plain) for value in spec.inputs]
    results = net.node(
        spec.schema.name, names, spec.attrs, [bool(f) for f in spec.outputs], domain, spec.schema.attributes
    )
    results = [results] if isinstance(results, str) else results
    net.outputs = [name for name in results if name]
    if draw.chance(0.25):
        tail(draw, net, spec)
    return net


def tail(draw: Draw, net: Net, spec: Spec) -> None:
    """Elementwise nodes behind the first output, which may join its kernel."""
    first = spec.inputs[0] if spec.inputs else None
    if not isinstance(first, np.ndarray) or first.dtype != np.float32 or net.opset < 13:
        return
    if (
        spec.schema.outputs[0].symbol != spec.schema.inputs[0].symbol
        or "tensor(float)" not in spec.schema.outputs[0].types
    ):
        return
    value, keep = net.outputs[0], draw.chance(0.3)
    for _ in range(draw.whole(1, 3)):
        if draw.chance(0.6):
            value = net.node(
                draw.one(
                    "Relu",
                    "Sigmoid",
                    "Tanh",
                    "Neg",
                    "Abs",
                    "Exp",
                    "LeakyRelu",
                    "HardSwish" if net.opset > 13 else "Relu",
                ),
                [value],
            )
        else:
            other = draw.values(draw.one((), (1,)), np.float32, "small")
            pair = [value, net.constant(other) if draw.chance(0.7) else net.feed(other)]
            value = net.node(
                draw.one("Add", "Mul", "Sub", "Div", "Max", "Min"), pair if draw.chance(0.6) else pair[::-1]
            )
    net.outputs = [value, *net.outputs[0 if keep else 1 :]]


# The parameters that a value passes on each of the ways through other nodes.
PASSED = {
    "identity": [("Identity", 0)],
    "transposed": [("Transpose", 0)],
    "reshaped": [("Reshape", 0)],
    "branch": [("Slice", 0), ("If", -1)],
    "sliced": [("Slice", 0)],
    "expanded": [("Expand", 0)],
    "compressed": [("Compress", 0)],
    "concatenated": [("Concat", 0)],
    "squeezed": [("Squeeze", 0)],
    "looped": [("Loop", 2)],
}


@cache
def passes(way: str, opset: int, dtype: np.dtype) -> bool:
    """Does the standard allow this element type there?"""
    for name, place in PASSED[way]:
        schema = next((s for s in all_schemas()["", name] if s.since <= opset <= s.last), None)
        if schema is None:
            return False
        types = (*schema.inputs, *schema.outputs)[place].types
        if dtype not in element_types(tuple(sorted(types))):
            return False
    return True


class Source:
    """Gives a node its inputs."""

    def __init__(self, draw: Draw, net: Net, loose: bool) -> None:
        self.draw, self.net, self.loose = draw, net, loose
        self.shapes = draw.one("fixed", "symbols", "symbols", "unknown", "mixed")
        self.symbols: dict[int, str] = {}

    def declared(self, array: np.ndarray) -> list | None:
        d, shapes = self.draw, self.shapes
        if shapes == "mixed":
            shapes = d.one("fixed", "symbols", "unknown")
        if shapes == "fixed":
            return list(array.shape)
        if shapes == "unknown":
            return None
        result = []
        for size in array.shape:
            pick = d.random.random()
            if pick < 0.3:
                result.append(size)
            elif pick < 0.5 and not self.loose:  # one name for one size
                result.append(self.symbols.setdefault(size, f"n{size}"))
            elif pick < 0.9:
                result.append(self.net.name("d"))
            else:
                result.append("")
        return result

    def feed(self, array) -> str:
        return self.net.feed(array, None if isinstance(array, list) else self.declared(array))

    def input(self, value, constant: float, plain: bool) -> str:
        d = self.draw
        if value is None:
            return ""
        if isinstance(value, Control):
            if d.chance(0.5 + constant / 2):
                return self.net.constant(value.array)
            return self.feed(value.array)
        if isinstance(value, list):
            return self.sequence(value)
        if isinstance(value, Present):
            return self.net.node("Optional", [self.feed(value.array)])
        if not plain and d.chance(0.5):
            return self.through(value)
        return self.net.constant(value) if d.chance(constant) else self.feed(value)

    def sequence(self, arrays: list[np.ndarray]) -> str:
        if not arrays:
            return self.net.node("SequenceEmpty", [], {"dtype": 1})
        return self.net.node("SequenceConstruct", [self.feed(a) for a in arrays])

    def through(self, array: np.ndarray) -> str:
        """The same values, made by other nodes: views, sizes that are known late, branches."""
        ways = [self.identity, self.transposed, self.reshaped, self.branch]
        if self.net.opset >= 13 and array.dtype.itemsize >= 1 and array.dtype.name not in nets.PACKED:
            ways += [
                self.sliced,
                self.expanded,
                self.compressed,
                self.concatenated,
                self.squeezed,
                self.looped,
            ]
        ways = [way for way in ways if passes(way.__name__, self.net.opset, array.dtype)]
        return self.draw.of(ways)(array) if ways else self.base(array)

    def base(self, array: np.ndarray) -> str:
        return self.net.constant(array) if self.draw.chance(0.15) else self.feed(array)

    def identity(self, array: np.ndarray) -> str:
        return self.net.node("Identity", [self.base(array)])

    def transposed(self, array: np.ndarray) -> str:
        perm = self.draw.random.sample(range(array.ndim), array.ndim)
        before = np.ascontiguousarray(np.transpose(array, np.argsort(perm))).reshape(
            [array.shape[i] for i in np.argsort(perm)]
        )
        return self.net.node("Transpose", [self.base(before)], {"perm": perm} if perm else {})

    def reshaped(self, array: np.ndarray) -> str:
        if self.net.opset < 14 or array.size == 0:
            return self.identity(array)
        shape = np.array(array.shape, np.int64)
        shape = self.net.constant(shape) if self.draw.chance(0.5) else self.feed(shape)
        return self.net.node("Reshape", [self.base(array.reshape(-1)), shape])

    def branch(self, array: np.ndarray) -> str:
        if self.net.opset < 11:
            return self.identity(array)
        x = self.base(array)
        flag = np.array(bool(self.draw.flag()))
        condition = self.feed(flag) if self.draw.chance(0.8) else self.net.constant(flag)
        bodies = []
        for _ in range(2):
            inner = Net(self.net.opset, prefix=self.net.name("b"))
            y = inner.node("Identity", [x])
            if self.draw.chance(0.5) and array.ndim and self.net.opset >= 13:
                start = inner.constant(np.array([0], np.int64))
                end = inner.constant(np.array([2**31], np.int64))
                y = inner.node("Slice", [y, start, end])
            bodies.append(inner.body([], [y]))
        return self.net.node("If", [condition], {"then_branch": bodies[0], "else_branch": bodies[1]})

    def looped(self, array: np.ndarray) -> str:
        trips = np.array(self.draw.whole(0, 2), np.int64)
        inner = Net(self.net.opset, prefix=self.net.name("l"))
        go = inner.node("Identity", ["go"])
        y = inner.node("Identity", ["state"])
        body = inner.body([("i", 7, ()), ("go", 9, ()), ("state", number_of(array.dtype))], [go, y])
        return self.net.node("Loop", [self.feed(trips), "", self.base(array)], {"body": body})

    def sliced(self, array: np.ndarray) -> str:
        if not array.ndim:
            return self.identity(array)
        d = self.draw
        axis, before, after = d.whole(0, array.ndim - 1), d.whole(0, 2), d.whole(0, 2)
        widths = [(before, after) if a == axis else (0, 0) for a in range(array.ndim)]
        if array.dtype == object:
            return self.identity(array)
        larger = np.pad(array.astype(array.dtype), widths)
        i64 = lambda v: np.array([v], np.int64)  # noqa: E731
        give = self.feed if d.chance(0.6) else self.net.constant
        bounds = [give(i64(before)), give(i64(before + array.shape[axis])), give(i64(axis))]
        return self.net.node("Slice", [self.base(larger), *bounds])

    def expanded(self, array: np.ndarray) -> str:
        if not array.ndim or array.dtype == object or array.size == 0:
            return self.identity(array)
        axis = self.draw.whole(0, array.ndim - 1)
        small = np.ascontiguousarray(array.take([0], axis))
        shape = np.array(array.shape, np.int64)
        shape = self.net.constant(shape) if self.draw.chance(0.6) else self.feed(shape)
        return self.net.node("Expand", [self.base(small), shape])

    def compressed(self, array: np.ndarray) -> str:
        if not array.ndim or array.dtype == object:
            return self.identity(array)
        axis = self.draw.whole(0, array.ndim - 1)
        keep = np.ones(array.shape[axis] + self.draw.whole(0, 2), bool)
        keep[array.shape[axis] :] = False
        widths = [(0, len(keep) - array.shape[a]) if a == axis else (0, 0) for a in range(array.ndim)]
        larger = np.pad(array, widths)
        return self.net.node("Compress", [self.base(larger), self.feed(keep)], {"axis": axis})

    def concatenated(self, array: np.ndarray) -> str:
        if not array.ndim:
            return self.identity(array)
        axis = self.draw.whole(0, array.ndim - 1)
        cut = self.draw.whole(0, array.shape[axis])
        parts = [np.ascontiguousarray(p) for p in np.split(array, [cut], axis)]
        return self.net.node("Concat", [self.base(p) for p in parts], {"axis": axis})

    def squeezed(self, array: np.ndarray) -> str:
        axis = self.draw.whole(0, array.ndim)
        at = np.array([axis], np.int64)
        at = self.net.constant(at) if self.draw.chance(0.6) else self.feed(at)
        return self.net.node("Squeeze", [self.base(np.expand_dims(array, axis)), at])
