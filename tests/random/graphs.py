# SPDX-License-Identifier: Apache-2.0
"""Small graphs, built forward with knowledge of shapes: chains and meshes with the patterns that rules, fusions and
views look for."""

from dataclasses import dataclass

import numpy as np
from draw import Draw
from schema import NEWEST

from net import Net

F32 = np.dtype(np.float32)
UNARY = "Relu Sigmoid Tanh Neg Abs Exp Sqrt Erf LeakyRelu Softplus Identity Elu HardSigmoid Floor".split()
BINARY = ("Add", "Add", "Mul", "Mul", "Sub", "Div", "Max", "Min", "Pow")
PEER_OPSET = 26  # the newest that onnxruntime takes


@dataclass
class V:
    name: str
    shape: tuple[int, ...]
    dtype: np.dtype = F32

    @property
    def rank(self) -> int:
        return len(self.shape)

    @property
    def size(self) -> int:
        return int(np.prod(self.shape))


def i64(*values) -> np.ndarray:
    return np.array(values, np.int64)


class Grow:
    """The graph so far: its values by name, shape and type."""

    def __init__(self, d: Draw) -> None:
        self.d = d
        d.tame = d.chance(0.9)
        self.net = Net(d.whole(17, min(PEER_OPSET, NEWEST[""] or PEER_OPSET)))
        self.values: list[V] = []
        self.labels: list[str] = []
        self.style = d.one("fixed", "symbols", "unknown", "symbols")
        self.symbols: dict[int, str] = {}

    # Values

    def declared(self, shape) -> list | None:
        if self.style == "fixed":
            return list(shape)
        if self.style == "unknown" and self.d.chance(0.7):
            return None
        return [
            n
            if self.d.chance(0.3)
            else self.symbols.setdefault(n, f"n{n}")
            if self.d.chance(0.5)
            else self.net.name("d")
            for n in shape
        ]

    def feed(self, shape, dtype=F32, array=None) -> V:
        array = self.d.values(shape, dtype, "small" if dtype == F32 else "") if array is None else array
        value = V(self.net.feed(array, self.declared(array.shape)), tuple(array.shape), array.dtype)
        self.values.append(value)
        return value

    def constant(self, shape=None, array=None) -> V:
        array = self.d.values(shape, F32, "small") if array is None else array
        return V(self.net.constant(array), tuple(array.shape), array.dtype)

    def operand(self, shape) -> V:
        """A weight: mostly constant."""
        return self.constant(shape) if self.d.chance(0.8) else self.feed(shape)

    def steer(self, *values) -> str:
        array = i64(*values)
        return self.net.constant(array) if self.d.chance(0.7) else self.feed(None, array=array).name

    def add(self, op: str, inputs: list, shape, attrs=None, dtype=F32) -> V:
        names = [i.name if isinstance(i, V) else i for i in inputs]
        value = V(self.net.node(op, names, attrs), tuple(shape), dtype)
        self.values.append(value)
        return value

    def pick(self, rank: int | None = None) -> V:
        """Some value that is there, rather a new one; of this rank if there is one, else made so."""
        d = self.d
        fit = [v for v in self.values if v.dtype == F32 and v.size and (rank is None or v.rank == rank)]
        if fit and d.chance(0.9):
            return fit[-1] if d.chance(0.6) else d.of(fit)
        if fit or rank is None or not self.values:
            return self.feed(d.shape(rank if rank is not None else d.whole(1, 4), least=1, most=600))
        return self.to_rank(self.pick(), rank)

    def to_rank(self, v: V, rank: int) -> V:
        shape = (
            (1,) * (rank - v.rank) + v.shape
            if rank >= v.rank
            else (int(np.prod(v.shape[: v.rank - rank + 1])), *v.shape[v.rank - rank + 1 :])
        )
        return self.reshape_to(v, shape)

    def reshape_to(self, v: V, shape) -> V:
        target = list(shape)
        if target and self.d.chance(0.4):
            target[self.d.whole(0, len(target) - 1)] = -1
        return self.add("Reshape", [v, self.steer(*target)], shape)

    # Steps

    def unary(self) -> None:
        v = self.pick()
        op = self.d.of(UNARY)
        if op == "Sqrt":
            v = self.add("Abs", [v], v.shape)
        if op == "Exp":
            v = self.add("Tanh", [v], v.shape)
        self.add(op, [v], v.shape)

    def binary(self) -> None:
        v, op = self.pick(), self.d.of(BINARY)
        same = [w for w in self.values if w.dtype == F32 and w.shape == v.shape]
        if self.d.chance(0.4) and op != "Pow":
            w = self.d.of(same) if same else v
        else:
            w = self.operand(self.d.broadcast(v.shape))
        if op == "Pow":
            v, w = (
                self.add("Abs", [v], v.shape),
                self.constant(array=np.array(self.d.one(2, 0.5, 1, 3, -1), F32)),
            )
        if op == "Div" and self.d.chance(0.8):
            w = self.add("Exp", [self.add("Tanh", [w], w.shape)], w.shape)
        pair = [v, w] if self.d.chance(0.7) or op == "Pow" else [w, v]
        self.add(op, pair, np.broadcast_shapes(v.shape, w.shape))

    def view(self) -> None:
        self.d.of([self.transpose, self.slice, self.expand, self.reshape, self.unsqueeze, self.squeeze])()

    def transpose(self) -> None:
        v = self.pick()
        perm = self.d.random.sample(range(v.rank), v.rank)
        self.add("Transpose", [v], [v.shape[p] for p in perm], {"perm": perm} if perm else {})

    def slice(self) -> None:
        v = self.pick()
        if not v.rank:
            return
        axis = self.d.whole(0, v.rank - 1)
        n = v.shape[axis]
        start, step = self.d.whole(0, n - 1), self.d.one(1, 1, 1, 2, -1)
        end = self.d.whole(start + 1, n) if step > 0 else -n - 1
        count = len(range(start, end, step)) if step > 0 else len(range(start, -1, -1))
        shape = (*v.shape[:axis], count, *v.shape[axis + 1 :])
        self.add("Slice", [v, self.steer(start), self.steer(end), self.steer(axis), self.steer(step)], shape)

    def expand(self) -> None:
        v = self.pick()
        if v.size > 400:
            return
        shape = [self.d.whole(2, 4) if n == 1 and self.d.chance(0.7) else n for n in v.shape]
        if self.d.chance(0.5) and v.rank < 5:
            shape = [self.d.whole(1, 3), *shape]
        self.add("Expand", [v, self.steer(*shape)], shape)

    def reshape(self) -> None:
        v = self.pick()
        shape, left = [], v.size
        for _ in range(self.d.whole(0, 3)):
            f = self.d.of([f for f in (1, 2, 3, 4, 5, 8) if left % f == 0])
            shape.append(f)
            left //= f
        self.reshape_to(v, (*shape, left))

    def unsqueeze(self) -> None:
        v = self.pick()
        axis = self.d.whole(0, v.rank)
        self.add("Unsqueeze", [v, self.steer(axis)], (*v.shape[:axis], 1, *v.shape[axis:]))

    def squeeze(self) -> None:
        v = self.pick()
        if ones := [i for i, n in enumerate(v.shape) if n == 1]:
            axis = self.d.of(ones)
            self.add("Squeeze", [v, self.steer(axis)], (*v.shape[:axis], *v.shape[axis + 1 :]))

    def mat_mul(self) -> None:
        v = self.pick(self.d.one(2, 2, 3, 4))
        n = self.d.size(33, 1)
        batch = v.shape[:-2] if self.d.chance(0.3) else ()
        w = self.operand((*batch, v.shape[-1], n))
        if self.d.chance(0.25):  # the right side through a view
            t = self.operand((*batch, n, v.shape[-1]))
            perm = [*range(len(batch)), len(batch) + 1, len(batch)]
            w = self.add("Transpose", [t], (*batch, v.shape[-1], n), {"perm": perm})
        y = self.add("MatMul", [v, w], (*v.shape[:-1], n))
        if self.d.chance(0.6):
            bias = self.operand(self.d.one((n,), (n,), (1, n), (), y.shape))
            y = self.add(
                "Add",
                [y, bias] if self.d.chance(0.7) else [bias, y],
                np.broadcast_shapes(y.shape, bias.shape),
            )
        if self.d.chance(0.3):
            self.gelu(y)
        elif self.d.chance(0.5):
            self.add(self.d.one("Relu", "Tanh", "Sigmoid"), [y], y.shape)

    def gemm(self) -> None:
        v = self.pick(2)
        n, trans = self.d.size(33, 1), self.d.flag()
        w = self.operand((n, v.shape[1]) if trans else (v.shape[1], n))
        inputs = [v, w] + (
            [self.operand(self.d.one((n,), (1, n), (v.shape[0], n), ()))] if self.d.chance(0.7) else []
        )
        y = self.add("Gemm", inputs, (v.shape[0], n), {"transB": trans, "alpha": self.d.one(1.0, 0.5)})
        if self.d.chance(0.6):
            self.add(self.d.one("Relu", "Sigmoid", "LeakyRelu"), [y], y.shape)

    def gelu(self, v: V | None = None) -> None:
        v = v or self.pick()
        half, one, root = (self.constant(array=np.array(x, F32)) for x in (0.5, 1.0, np.sqrt(2)))
        e = self.add("Erf", [self.add("Div", [v, root], v.shape)], v.shape)
        e = self.add("Add", [e, one], v.shape)
        self.add("Mul", [self.add("Mul", [v, e], v.shape), half], v.shape)

    def layer_norm(self) -> None:
        v = self.pick()
        if not v.rank:
            return
        n = v.shape[-1]
        small = (*v.shape[:-1], 1)
        attrs = {"keepdims": 1}
        axes = {} if self.net.opset >= 18 else {"axes": [-1]}
        extra = [self.net.constant(i64(-1))] if self.net.opset >= 18 else []
        mean = self.add("ReduceMean", [v, *extra], small, attrs | axes)
        centred = self.add("Sub", [v, mean], v.shape)
        square = self.add("Pow", [centred, self.constant(array=np.array(2, F32))], v.shape)
        variance = self.add("ReduceMean", [square, *extra], small, attrs | axes)
        root = self.add(
            "Sqrt", [self.add("Add", [variance, self.constant(array=np.array(1e-3, F32))], small)], small
        )
        y = self.add("Div", [centred, root], v.shape)
        y = self.add("Mul", [y, self.operand((n,))], v.shape)
        self.add("Add", [y, self.operand((n,))], v.shape)

    def conv(self) -> None:
        v = self.pick(4)
        d, (n, c, h, w) = self.d, v.shape
        if c * h * w > 1500 or c > 65:
            return
        out, kernel = d.one(1, 8, 16, 20, d.size(33, 1)), d.one(1, 1, 3, 3, 2)
        pad, stride = d.whole(0, 1), d.one(1, 1, 2)
        groups = d.one(1, 1, c) if out % c == 0 else 1
        if min(h, w) + 2 * pad < kernel:
            return
        attrs = {"pads": [pad] * 4, "strides": [stride] * 2, "group": groups}
        inputs = [v, self.operand((out, c // groups, kernel, kernel))] + (
            [self.operand((out,))] if d.chance(0.5) else []
        )
        size = lambda s: (s + 2 * pad - kernel) // stride + 1  # noqa: E731
        y = self.add("Conv", inputs, (n, out, size(h), size(w)), attrs)
        if d.chance(0.3):
            stats = [self.constant((out,)) for _ in range(3)] + [
                self.constant(array=np.abs(d.values((out,), F32, "small")) + F32.type(0.1))
            ]
            y = self.add("BatchNormalization", [y, *stats], y.shape)
        if d.chance(0.4):
            other = self.operand(d.one((1, out, 1, 1), (out, 1, 1), y.shape, y.shape, ()))
            y = self.add("Add", [y, other], y.shape)
        if d.chance(0.6):
            y = self.add(d.one("Relu", "Sigmoid", "LeakyRelu", "HardSwish", "Tanh"), [y], y.shape)
        if d.chance(0.2):
            self.add("Mul", [y, self.add("Sigmoid", [y], y.shape)], y.shape)

    def pool(self) -> None:
        v = self.pick(4) if self.d.chance(0.85) else self.constant(self.d.shape(4, 1, 500))
        n, c, h, w = v.shape
        if self.d.chance(0.3):
            self.add(self.d.one("GlobalAveragePool", "GlobalMaxPool"), [v], (n, c, 1, 1))
            return
        kernel = min(self.d.whole(1, 3), h, w)
        stride = self.d.whole(1, 2)
        size = lambda s: (s - kernel) // stride + 1  # noqa: E731
        attrs = {"kernel_shape": [kernel] * 2, "strides": [stride] * 2}
        self.add(self.d.one("MaxPool", "AveragePool"), [v], (n, c, size(h), size(w)), attrs)

    def softmax(self) -> None:
        v = self.pick()
        if v.rank:
            self.add(self.d.one("Softmax", "LogSoftmax"), [v], v.shape, {"axis": self.d.axis(v.rank)})

    def reduce(self) -> None:
        v = self.pick()
        if not v.rank:
            return
        axis, keep = self.d.whole(0, v.rank - 1), self.d.flag()
        shape = list(v.shape)
        shape[axis : axis + 1] = [1] if keep else []
        op = self.d.one("ReduceSum", "ReduceMean", "ReduceMax")
        if op == "ReduceSum" or self.net.opset >= 18:
            self.add(op, [v, self.steer(axis)], shape, {"keepdims": keep})
        else:
            self.add(op, [v], shape, {"keepdims": keep, "axes": [axis]})

    def concat(self) -> None:
        v = self.pick()
        if not v.rank or v.size > 700:
            return
        axis = self.d.whole(0, v.rank - 1)
        other = list(v.shape)
        other[axis] = self.d.size(9, 1)
        parts = [v, self.operand(other)] + ([v] if self.d.chance(0.3) else [])
        self.d.random.shuffle(parts)
        shape = list(v.shape)
        shape[axis] = sum(p.shape[axis] for p in parts)
        self.add("Concat", parts, shape, {"axis": axis - (v.rank if self.d.flag() else 0)})

    def split(self) -> None:
        v = self.pick()
        if not v.rank:
            return
        axis = self.d.whole(0, v.rank - 1)
        n = v.shape[axis]
        cut = self.d.whole(0, n)
        names = self.net.node("Split", [v.name, self.steer(cut, n - cut)], {"axis": axis}, 2)
        for name, part in zip(names, (cut, n - cut), strict=True):
            self.values.append(V(name, (*v.shape[:axis], part, *v.shape[axis + 1 :])))

    def gather(self) -> None:
        v = self.pick()
        if not v.rank:
            return
        axis = self.d.whole(0, v.rank - 1)
        at = self.d.indices(self.d.shape(self.d.whole(0, 2), least=1, most=9), v.shape[axis])
        index = self.net.constant(at) if self.d.chance(0.6) else self.feed(None, array=at).name
        self.add("Gather", [v, index], (*v.shape[:axis], *at.shape, *v.shape[axis + 1 :]), {"axis": axis})

    def attention(self) -> None:
        d = self.d
        b, h, m, n, k = (
            d.whole(1, 2),
            d.whole(1, 3),
            d.size(17, 1),
            d.size(17, 1),
            d.one(4, 8, 16, d.size(17, 1)),
        )
        q, key, value = self.feed((b, h, m, k)), self.feed((b, h, n, k)), self.feed((b, h, n, k))
        key = self.add("Transpose", [key], (b, h, k, n), {"perm": [0, 1, 3, 2]})
        s = self.add("MatMul", [q, key], (b, h, m, n))
        s = self.add(
            d.one("Mul", "Div"), [s, self.constant(array=np.array(d.one(0.5, 2.0, np.sqrt(k)), F32))], s.shape
        )
        if d.chance(0.5):
            s = self.add(
                "Add",
                [s, self.operand(d.one((m, n), (1, 1, m, n), (b, 1, m, n), (b, 1, 1, n), (n,)))],
                s.shape,
            )
        p = self.add("Softmax", [s], s.shape, {"axis": -1})
        y = self.add("MatMul", [p, value], (b, h, m, k))
        y = self.add("Transpose", [y], (b, m, h, k), {"perm": [0, 2, 1, 3]})
        self.reshape_to(y, (b, m, h * k))

    def shape_arithmetic(self) -> None:
        """Reshape to sizes that are computed from a Shape."""
        v = self.pick()
        if v.rank < 2:
            return
        shape = self.net.node("Shape", [v.name])
        first = self.net.node("Gather", [shape, self.net.constant(np.array(0, np.int64))])
        first = self.net.node("Unsqueeze", [first, self.net.constant(i64(0))])
        rest = self.net.constant(i64(-1))
        target = self.net.node("Concat", [first, rest], {"axis": 0})
        self.add("Reshape", [v, target], (v.shape[0], v.size // v.shape[0]))

    def late(self) -> None:
        """Sizes that only the run knows."""
        v = self.pick()
        if not v.rank:
            return
        if self.d.chance(0.5):
            axis = self.d.whole(0, v.rank - 1)
            keep = np.array([self.d.chance(0.7) for _ in range(v.shape[axis])])
            name = self.feed(None, array=keep).name
            shape = (*v.shape[:axis], int(keep.sum()), *v.shape[axis + 1 :])
            self.add("Compress", [v, name], shape, {"axis": axis})
        else:
            self.branch(v)

    def branch(self, v: V | None = None) -> None:
        v = v or self.pick()
        flag = bool(self.d.flag())
        condition = self.feed(None, array=np.array(flag)).name
        bodies = []
        for _ in range(2):
            inner = Net(self.net.opset, prefix=self.net.name("b"))
            y = inner.node(self.d.one("Relu", "Neg", "Identity"), [v.name])
            if self.d.chance(0.5):
                y = inner.node("Add", [y, inner.constant(np.array(self.d.real(-1, 1), F32))])
            bodies.append(inner.body([], [y]))
        self.add("If", [condition], v.shape, {"then_branch": bodies[0], "else_branch": bodies[1]})

    def loop(self) -> None:
        v = self.pick()
        captured = self.operand(self.d.broadcast(v.shape))
        trips = self.d.whole(0, 3)
        inner = Net(self.net.opset, prefix=self.net.name("l"))
        go = inner.node("Identity", ["go"])
        y = inner.node(self.d.one("Add", "Mul"), ["state", captured.name])
        y = inner.node("Tanh", [y])
        scan = inner.node("Identity", [y])
        body = inner.body([("i", 7, ()), ("go", 9, ()), ("state", 1)], [go, y, scan])
        first = self.steer_scalar(trips)
        names = self.net.node("Loop", [first, "", v.name], {"body": body}, 2)
        self.values += [V(names[0], v.shape), V(names[1], (trips, *v.shape))]

    def steer_scalar(self, value: int) -> str:
        array = np.array(value, np.int64)
        return self.net.constant(array) if self.d.chance(0.5) else self.feed(None, array=array).name

    def scan(self) -> None:
        v = self.pick()
        if v.rank < 2:
            return
        inner = Net(self.net.opset, prefix=self.net.name("s"))
        total = inner.node("Add", ["state", "item"])
        out = inner.node("Relu", [total])
        shapes = {total: v.shape[1:], out: v.shape[1:]} if self.d.chance(0.7) else None
        body = inner.body([("state", 1), ("item", 1)], [total, out], shapes)
        state = self.operand(v.shape[1:])
        names = self.net.node("Scan", [state.name, v.name], {"body": body, "num_scan_inputs": 1}, 2)
        self.values += [V(names[0], v.shape[1:]), V(names[1], v.shape)]

    def integers(self) -> None:
        """Whole numbers beside: they wrap, and small constants of them are followed as shapes."""
        shape = self.d.shape(self.d.whole(0, 2), least=1, most=8)
        a = (
            self.feed(shape, np.dtype(np.int64))
            if self.d.chance(0.6)
            else self.constant(array=self.d.values(shape, np.int64))
        )
        b = self.constant(array=self.d.values(self.d.broadcast(shape), np.int64))
        for op in self.d.random.choices(("Add", "Sub", "Mul", "Max", "Min"), k=self.d.whole(1, 3)):
            a = self.add(
                op,
                [a, b] if self.d.flag() else [b, a],
                np.broadcast_shapes(a.shape, b.shape),
                dtype=np.dtype(np.int64),
            )
        if self.d.chance(0.5):  # as a float, what is far beyond its digits would cancel to anything
            bounds = [self.constant(array=np.array(n, np.int64)) for n in (-(2**20), 2**20)]
            if self.net.opset >= 12:
                a = self.add("Clip", [a, *bounds], a.shape, dtype=np.dtype(np.int64))
                self.add("Cast", [a], a.shape, {"to": 1})


STEPS = (
    *("unary",) * 3, *("binary",) * 4, *("view",) * 5, *("mat_mul",) * 3, "gemm", "gelu", "layer_norm", *("conv",) * 3, "pool", "pool", "softmax",
    "reduce", "concat", "concat", "split", "gather", "attention", "shape_arithmetic", "late", "branch", "loop", "scan", "integers",
)  # fmt: skip


def make(d: Draw) -> tuple[str, Net]:
    g = Grow(d)
    d.most = 600
    g.feed(d.shape(d.one(2, 3, 4, 4), least=1, most=600))
    for _ in range(d.whole(1, 7)):
        step = d.of(STEPS)
        g.labels.append(step)
        before = len(g.net.nodes)
        getattr(g, step)()
        if len(g.net.nodes) == before:
            g.labels.pop()
        if g.values[-1].size > 4000:
            break
    made = [name for node in g.net.nodes for name in node[3]]
    used = {name for node in g.net.nodes for name in node[2]}
    ends = [name for name in made if name not in used]
    extra = [name for name in made if name in used and d.chance(0.1)]
    g.net.outputs = (ends + extra) or [g.net.node("Identity", [g.values[0].name])]
    return "+".join(g.labels[:6]) or "empty", g.net
