# SPDX-License-Identifier: Apache-2.0
"""Loops, sequences and nested branches, written as ONNX text."""

from pathlib import Path

import numpy as np
import onnx
from onnx import parser

from net import store

# Each turn scales the row; even turns add the bias of the outer graph, odd ones take it away, and every third
# is stored twice: how long the sequence gets is known only at the end.
GROWING = """
<ir_version: 8, opset_import: ["" : 17]>
growing (int64 turns, float[M] row, float[M] bias) => (float[K, M] rows, int64 count, float[M] last)
{
  yes = Constant <value: tensor = bool {1}> ()
  empty = SequenceEmpty <dtype: int = 1> ()
  last, kept = Loop (turns, yes, row, empty) <body: graph = turn
    (int64 i, bool go, float[M] x, seq(float[M]) so_far) => (bool go_on, float[M] y, seq(float[M]) more)
  {
    go_on = Identity (go)
    half = Constant <value: tensor = float {0.5}> ()
    scaled = Mul (x, half)
    two = Constant <value: tensor = int64 {2}> ()
    three = Constant <value: tensor = int64 {3}> ()
    zero = Constant <value: tensor = int64 {0}> ()
    rest = Mod (i, two)
    even = Equal (rest, zero)
    rest3 = Mod (i, three)
    third = Equal (rest3, zero)
    y = If (even) <
      then_branch: graph = add () => (float[M] up) { up = Add (scaled, bias) },
      else_branch: graph = sub () => (float[M] down) { down = Sub (scaled, bias) }
    >
    once = SequenceInsert (so_far, y)
    more = If (third) <
      then_branch: graph = twice () => (seq(float[M]) doubled)
      {
        doubled = If (even) <
          then_branch: graph = front () => (seq(float[M]) f)
          {
            start = Constant <value: tensor = int64 {0}> ()
            f = SequenceInsert (once, y, start)
          },
          else_branch: graph = back () => (seq(float[M]) b) { b = SequenceInsert (once, y) }
        >
      },
      else_branch: graph = single () => (seq(float[M]) same) { same = Identity (once) }
    >
  }>
  count = SequenceLength (kept)
  rows = ConcatFromSequence <axis: int = 0, new_axis: int = 1> (kept)
}
"""

# The sequence itself is the output, and the loop ends by its own condition.
UNTIL = """
<ir_version: 8, opset_import: ["" : 17]>
until (float limit, float[M] row) => (seq(float[M]) kept, int64[T] turns)
{
  yes = Constant <value: tensor = bool {1}> ()
  empty = SequenceEmpty <dtype: int = 1> ()
  last, kept, turns = Loop ("", yes, row, empty) <body: graph = turn
    (int64 i, bool go, float[M] x, seq(float[M]) so_far)
    => (bool go_on, float[M] y, seq(float[M]) more, int64 number)
  {
    y = Add (x, x)
    top = ReduceMax <keepdims: int = 0> (y)
    go_on = Less (top, limit)
    more = SequenceInsert (so_far, y)
    number = Identity (i)
  }>
}
"""

# For cancellation and deadlines: it runs as long as it is told to, and keeps nothing.
LONG = """
<ir_version: 8, opset_import: ["" : 17]>
long (int64 turns, float[M] row) => (float[M] last)
{
  yes = Constant <value: tensor = bool {1}> ()
  last = Loop (turns, yes, row) <body: graph = turn
    (int64 i, bool go, float[M] x) => (bool go_on, float[M] y)
  {
    go_on = Identity (go)
    half = Constant <value: tensor = float {0.5}> ()
    scaled = Mul (x, half)
    y = Add (scaled, half)
  }>
}
"""


def _store(folder: Path, text: str, cases: list[dict], float64: bool = True) -> None:
    model = parser.parse_model(text)
    onnx.checker.check_model(model)
    store(folder, model, cases, float64)
    (folder / "model.onnxtxt").write_text(text.lstrip())


def _row(seed: int, size: int) -> np.ndarray:
    return np.random.default_rng(seed).standard_normal(size).astype(np.float32)


def loop_growing(folder: Path) -> None:
    cases = [
        {"turns": np.array(turns), "row": _row(turns, size), "bias": _row(99, size)}
        for turns, size in ((7, 4), (1, 3), (20, 5))
    ]
    _store(folder, GROWING, cases)


def loop_until(folder: Path) -> None:
    row = np.abs(_row(5, 6)) + np.float32(0.1)
    # onnx's evaluator stacks the scalars of the turns as [T, 1]; by the standard it is [T].
    _store(folder, UNTIL, [{"limit": np.array(50, np.float32), "row": row}], float64=False)


def loop_long(folder: Path) -> None:
    _store(folder, LONG, [{"turns": np.array(100), "row": _row(6, 8)}])


MODELS = [loop_growing, loop_until, loop_long]
