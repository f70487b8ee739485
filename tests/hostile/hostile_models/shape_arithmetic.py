# SPDX-License-Identifier: Apache-2.0
"""Shapes that contradict, overflow or explode, and integers that must wrap as int64 does."""

import numpy as np

from .build import case, count, ints, node, ones, scalar

LOW, HIGH = -(2**63), 2**63 - 1
X = count(2, 3)

WRONG_RESHAPES = {
    "two -1": [-1, -1],
    "-2": [-2, 3],
    "4 by -1": [4, -1],
    "0 beyond the rank": [2, 3, 0],
    "2^32 by 2^32": [2**32, 2**32],
    "2^63-1": [HIGH],
    "2^62 by 8 by 0": [2**62, 8, 0],
    "-1 beside a product of 2^64": [-1, 2**32, 2**32],
    "7": [7],
}
for name, shape in WRONG_RESHAPES.items():
    case(
        f"Reshape to {name}, constant",
        node("Reshape", "x n"),
        {"x": X},
        says="'Reshape'",
        consts={"n": ints(*shape)},
    )
    case(f"Reshape to {name}, fed", node("Reshape", "x n"), {"x": X, "n": ints(*shape)}, says="'Reshape'")
case(
    "Reshape of nothing to -1 by 0",
    node("Reshape", "x n", allowzero=1),
    {"x": np.zeros((0, 3), np.float32), "n": ints(-1, 0)},
    says="'Reshape'",
)
case(
    "Reshape of [a, b] to [a*b, 4]",
    [
        node("Shape", "x", "n"),
        node("ReduceProd", "n", "p"),
        node("Concat", "p four", "to", axis=0),
        node("Reshape", "x to"),
    ],
    {"x": X},
    says="'Reshape'",
    consts={"four": ints(4)},
    dims={"x": ["a", "b"]},
)
case(
    "Reshape to a million sizes",
    node("Reshape", "x n"),
    {"x": X},
    says="'Reshape'",
    consts={"n": np.ones(10**6, np.int64)},
)
case(
    "Unsqueeze by a million axes",
    node("Unsqueeze", "x n"),
    {"x": X},
    says="'Unsqueeze'",
    consts={"n": np.arange(10**6)},
)
case(
    "Unsqueeze by the same axis",
    node("Unsqueeze", "x n"),
    {"x": X},
    says="'Unsqueeze'",
    consts={"n": ints(0, 0)},
)
case("Expand to 300 dims", node("Expand", "x n"), {"x": X, "n": np.ones(300, np.int64)}, says="'Expand'")
case(
    "Squeeze of a size of 2",
    node("Squeeze", "x n"),
    {"x": X, "n": ints(0)},
    says="'Squeeze'",
    dims={"x": ["a", "b"]},
)
case("Squeeze of axis 2^63-1", node("Squeeze", "x n"), {"x": X}, says="'Squeeze'", consts={"n": ints(HIGH)})
case("Squeeze of axis -2^63", node("Squeeze", "x n"), {"x": X}, says="'Squeeze'", consts={"n": ints(LOW)})
case(
    "Transpose by the same axis twice",
    node("Transpose", "x", perm=[0, 0]),
    {"x": X},
    says=("'Transpose'", "axis"),
)
case(
    "Transpose by axis 2^40", node("Transpose", "x", perm=[0, 2**40]), {"x": X}, says=("'Transpose'", "axis")
)
case("Concat along axis 2^40", node("Concat", "x x", axis=2**40), {"x": X}, says=("'Concat'", "axis"))
case("Flatten at axis -2^63", node("Flatten", "x", axis=LOW), {"x": X}, says=("'Flatten'", "axis"))
case("Softmax along axis 2", node("Softmax", "x", axis=2), {"x": X}, says=("'Softmax'", "axis"))
case("Shape from -2^63 to 2^63-1", node("Shape", "x", start=LOW, end=HIGH), {"x": X}, gives=ints(2, 3))
case("Shape of an end before the start", node("Shape", "x", start=HIGH, end=LOW), {"x": X}, gives=ints())

STEPS = {
    "a step of -2^63": ((HIGH, LOW, LOW), [5]),
    "a step of 2^63-1": ((LOW, HIGH, HIGH), [0]),
    "everything backwards": ((HIGH, LOW, -1), [5, 4, 3, 2, 1, 0]),
    "an end before its start": ((5, 1, 1), []),
}
for name, ((start, end, step), right) in STEPS.items():
    feeds = {"s": ints(start), "e": ints(end), "a": ints(0), "t": ints(step)}
    right = np.array(right, np.float32)
    case(f"Slice by {name}, constant", node("Slice", "x s e a t"), {"x": count(6)}, gives=right, consts=feeds)
    case(f"Slice by {name}, fed", node("Slice", "x s e a t"), {"x": count(6)} | feeds, gives=right)
case(
    "Slice by a step of 0",
    node("Slice", "x s e a t"),
    {"x": X, "t": ints(0)},
    says="'Slice'",
    consts={"s": ints(0), "e": ints(1), "a": ints(0)},
)
case(
    "Slice with more ends than starts",
    node("Slice", "x s e"),
    {"x": X, "e": ints(1, 1)},
    says="'Slice'",
    consts={"s": ints(0)},
    dims={"e": ["n"]},
)
case(
    "Slice of an axis twice",
    node("Slice", "x s e a"),
    {"x": X, "a": ints(0, 0)},
    says="'Slice'",
    consts={"s": ints(0, 0), "e": ints(1, 1)},
)

for name, sizes in {"add to 7": [3, 4], "are negative": [-1, 7], "overflow to 6": [HIGH, LOW + 7]}.items():
    feeds = {"n": ints(*sizes)}
    case(
        f"Split whose sizes {name}, constant",
        node("Split", "x n", "y z"),
        {"x": count(6)},
        says="'Split'",
        consts=feeds,
    )
    case(
        f"Split whose sizes {name}, fed", node("Split", "x n", "y z"), {"x": count(6)} | feeds, says="'Split'"
    )
case("Split into 2^40 outputs", node("Split", "x", "y z", num_outputs=2**40), {"x": count(6)}, says="'Split'")
case("Split into 0 outputs", node("Split", "x", "y z", num_outputs=0), {"x": count(6)}, says="'Split'")
case("Trilu by -2^63", node("Trilu", "x k"), {"x": X, "k": scalar(LOW)}, gives=X)
case("Trilu by 2^63-1", node("Trilu", "x k"), {"x": X, "k": scalar(HIGH)}, gives=np.zeros_like(X))
case("EyeLike by -2^63", node("EyeLike", "x", k=LOW), {"x": X}, gives=np.zeros_like(X))
case(
    "Range in steps of 0",
    node("Range", "a b d"),
    {"d": scalar(0)},
    says="'Range'",
    consts={"a": scalar(0), "b": scalar(5)},
)
case(
    "Range over all of int64",
    node("Range", "a b d"),
    {"d": scalar(HIGH)},
    gives=ints(LOW, -1, HIGH - 1),
    consts={"a": scalar(LOW), "b": scalar(HIGH)},
)
case(
    "Pad by reflection of nothing",
    node("Pad", "x n", mode="reflect"),
    {"x": ones(0), "n": ints(2, 2)},
    says="'Pad'",
    dims={"x": ["n"]},
)
case(
    "Pad with three numbers",
    node("Pad", "x n"),
    {"x": X, "n": ints(1, 1, 1)},
    says="'Pad'",
    dims={"n": ["k"]},
)
case(
    "Pad of an axis twice",
    node("Pad", "x n - a"),
    {"x": X, "n": ints(1, 1, 1, 1)},
    says="'Pad'",
    consts={"a": ints(0, 0)},
)
case(
    "Pad by an unknown mode",
    node("Pad", "x n", mode="mirror"),
    {"x": X, "n": ints(0, 0, 0, 0)},
    says=("'Pad'", "mode"),
)
case("MatMul of a number", node("MatMul", "x x"), {"x": scalar(1, np.float32)}, says="'MatMul'")

# Shape arithmetic of one fed size, a thousand steps long.
steps, name = [], "s"
for k in range(1000):
    steps += [
        node("Add", f"{name} one", f"a{k}"),
        node("Add", f"{name} {name}", f"d{k}"),
        node("Min", f"a{k} d{k}", f"m{k}"),
    ]
    name = f"m{k}"
case(
    "a thousand times Min(s + 1, 2s)",
    [node("Shape", "x", "s"), *steps, node("ConstantOfShape", name)],
    {"x": ones(3)},
    gives=np.zeros(1003, np.float32),
    consts={"one": ints(1)},
    dims={"x": ["n"]},
)
powers = [node("Mul", f"p{k} p0", f"p{k + 1}") for k in range(499)]
case(
    "a size to the power of 500",
    [node("Shape", "x", "p0"), *powers],
    {"x": ones(2)},
    gives=ints(0),
    dims={"x": ["n"]},
)
squares = [node("Mul", f"p{k} p{k}", f"p{k + 1}") for k in range(500)]
case(
    "a size squared 500 times",
    [node("Shape", "x", "p0"), *squares],
    {"x": ones(3)},
    gives=ints(pow(3, 2**500, 2**64)),
    dims={"x": ["n"]},
)
doubles, name = [], "x"
for k in range(40):
    doubles += [node("Concat", f"{name} {name}", f"c{k}", axis=0)]
    name = f"c{k}"
case(
    "a shape doubled 40 times, and only its size wanted",
    [*doubles, node("Shape", name)],
    {"x": ones(1)},
    says="'Concat'",
    gives=ints(2**40),
    dims={"x": ["n"]},
)

# Integers wrap, in constants and in what is fed.
WRAPS = {
    "Add past the end": (node("Add", "a b"), HIGH, 1, LOW),
    "Sub past the end": (node("Sub", "a b"), LOW, 1, HIGH),
    "Mul past the end": (node("Mul", "a b"), 2**40, 2**40, 0),
    "Mul of the lowest": (node("Mul", "a b"), LOW, -1, LOW),
}
for name, (made, a, b, right) in WRAPS.items():
    feeds = {"a": ints(a), "b": ints(b)}
    case(f"{name}, constant", made, gives=ints(right), consts=feeds)
    case(f"{name}, fed", made, feeds, gives=ints(right))
for name, made, right in (
    ("Neg of the lowest", node("Neg", "a"), LOW),
    ("Abs of the lowest", node("Abs", "a"), LOW),
    ("ReduceSum past the end", node("ReduceSum", "a a0", keepdims=1), LOW),
):
    case(f"{name}, constant", made, gives=ints(right), consts={"a": ints(LOW), "a0": ints(0)})
    case(f"{name}, fed", made, {"a": ints(LOW)}, gives=ints(right), consts={"a0": ints(0)})
for op, a, b in (("Div", 1, 0), ("Mod", 1, 0), ("Div", LOW, -1), ("Mod", LOW, -1)):
    right = {"Div": LOW, "Mod": 0}[op]
    answer = {"says": f"'{op}'", "gives": ints(0)} if b == 0 else {"gives": ints(right)}
    feeds = {"a": ints(a), "b": ints(b)}
    case(f"{op} of {a} by {b}, constant", node(op, "a b"), consts=feeds, **answer)
    case(f"{op} of {a} by {b}, fed", node(op, "a b"), feeds, **answer)
    small = {"a": np.array([max(a, -(2**31))], np.int32), "b": np.array([b], np.int32)}
    answer = {"says": f"'{op}'"} if b == 0 else {}
    answer["gives"] = np.array([0 if b == 0 else max(right, -(2**31))], np.int32)
    case(f"{op} of {a} by {b} in 32 bits", node(op, "a b"), small, **answer)
case(
    "BitShift by 64 and more",
    node("BitShift", "a b", direction="LEFT"),
    {"a": np.array([1, 1, 3], np.uint64), "b": np.array([63, 64, 2**63], np.uint64)},
    gives=np.array([2**63, 0, 0], np.uint64),
)
