# SPDX-License-Identifier: Apache-2.0
"""A good model, misused: feeds of the wrong kind, strange arrays, foolish options, memory that is too small."""

import numpy as np

from .build import case, count, model_of, node, ones

X = count(2, 3)
ADD = model_of([node("Add", "x x", "a"), node("Relu", "a")], {"x": X}, dims={"x": ["n", 3]})


def feed(name, value, **answer):
    case(f"fed {name}", None, value if isinstance(value, dict) else {"x": value}, model=ADD, **answer)


feed("nothing", {}, says="x")
feed("something else too", {"x": X, "z": X}, says="z")
feed("under another name", {"z": X}, says="z")
feed("None", {"x": None}, says="x")
feed("another rank", ones(3), says=("x", "[3]"))
feed("another size", ones(2, 4), says=("x", "[2, 4]"))
feed("no dims", np.float32(1), says="x")
feed("another type", X.astype(np.float64), says=("x", "float64"))
feed("integers", X.astype(np.int64), says=("x", "int64"))
feed("strings", np.array([["a"] * 3], object), says="x")
feed("objects", np.array([[{}] * 3], object), says="x")
feed("a list", {"x": [[1.0, 2.0, 3.0]]}, gives=np.array([[2, 4, 6]], np.float32))
feed("a ragged list", {"x": [[1.0], [1.0, 2.0]]}, says="input 'x'")
feed("a dict", {"x": {"x": X}}, says="x")
feed("a sequence", {"x": [X, X]}, says="x")
feed("dates", np.array([["2020-01-01"] * 3], "M8[D]"), says="x")
feed("records", np.zeros((2, 3), [("a", "f4")]), says="x")
feed("complex numbers", X.astype(np.complex64), says="x")
feed("big-endian numbers", X.astype(">f4"), gives=2 * X)
feed("no rows", ones(0, 3), gives=ones(0, 3))
feed("a transposed array", "@transposed", gives=2 * X)
feed("every second column", "@every second column", gives=2 * count(2, 6)[:, ::2])
feed("an array backwards", "@backwards", gives=2 * X[::-1, ::-1])
feed("one row a thousand times", "@one row a thousand times", gives=np.broadcast_to(2 * X[:1], (1000, 3)))
feed("one number 3 * 10^12 times", "@one number 3 * 10^12 times", says="input 'x'")
feed("an array that is not aligned", "@not aligned", gives=2 * X)
feed("numbers that may not be written", "@read-only", gives=2 * X)
feed("rows that overlap", "@rows that overlap", gives=np.array([[0, 2, 4], [2, 4, 6]], np.float32))
feed(
    "NaN and infinity",
    np.array([[np.nan, np.inf, -np.inf]], np.float32),
    gives=np.array([[np.nan, np.inf, 0]], np.float32),
)
feed("subnormal numbers", np.full((1, 3), 1e-40, np.float32), gives=np.full((1, 3), 2e-40, np.float32))


def option(name, options, **answer):
    case(f"with {name}", None, {"x": X}, model=ADD, options=options, **answer)


option("100,000 threads", {"threads": 100_000}, gives=2 * X)
option("2^31 threads", {"threads": 2**31}, gives=2 * X)
option("2^70 threads", {"threads": 2**70}, gives=2 * X)
option("-1 threads", {"threads": -1}, says="num_threads")
option("a dim of -1", {"dims": {"n": -1}}, says="n")
option("a dim of 10^18", {"dims": {"n": 10**18}}, says="input 'x'")
option("a dim of 2^70", {"dims": {"n": 2**70}}, says="'n'")
option("a dim that is fed otherwise", {"dims": {"n": 7}}, says="x")
option("a dim that does not exist", {"dims": {"nobody": 7}}, says="'nobody'")
option("a tap that does not exist", {"taps": ["nobody"]}, says="nobody")
option("the same tap twice", {"taps": ["a", "a"]}, gives=[2 * X, 2 * X])
option("a plugin that does not exist", {"plugins": ["/nowhere/nothing.so"]}, says="nothing.so")
option("a plugin that is no library", {"plugins": ["/etc/hostname"]}, says="hostname")
option("a deadline in the past", {"timeout": 1e-9}, says=(), gives=2 * X)
option("a deadline of -1", {"timeout": -1}, says="timeout")
option("a deadline of 10^300", {"timeout": 1e300}, gives=2 * X)
option("a deadline of NaN", {"timeout": float("nan")}, says="timeout")
option("a memory limit of one byte", {"memory_limit": 1}, says="limit of 1 bytes")
option("a memory limit of -1", {"memory_limit": -1}, says="memory_limit")

case(
    "a session that is used after an error",
    None,
    {"x": ones(2, 4), "x!": X},
    gives=2 * X,
    model=ADD,
    action="run_twice",
)
case(
    "an output bound to memory that is too small",
    None,
    {"x": X},
    says=("output 'y' is float32[2, 3]", "float32[1]"),
    model=ADD,
    action="bind_small",
)
big = model_of([node("Expand", "x n")], {"x": ones(1), "n": np.array([3])}, dims={"x": [1], "n": [1]})
case(
    "a session that is used after a terabyte",
    None,
    {"x": ones(1), "n": np.array([10**12]), "x!": ones(1), "n!": np.array([3])},
    gives=ones(3),
    model=big,
    action="run_twice",
)
