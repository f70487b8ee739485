# SPDX-License-Identifier: Apache-2.0
"""Transforms, spectra, resampling, boxes and grids with sizes and numbers that make no sense."""

import numpy as np

from .build import case, count, ints, node, ones, scalar

PICTURE = count(1, 1, 4, 4)
SIGNAL = ones(1, 8, 1)


def real(value):
    return scalar(value, np.float32)


case("a DFT of length 0", node("DFT", "x n"), {"x": SIGNAL, "n": scalar(0)}, says="'DFT'", opset=20)
case("a DFT of length -8", node("DFT", "x n"), {"x": SIGNAL, "n": scalar(-8)}, says="'DFT'", opset=20)
case("a DFT along the last axis", node("DFT", "x - a"), {"x": SIGNAL, "a": scalar(2)}, says="'DFT'", opset=20)
case(
    "a DFT along axis 10^12", node("DFT", "x - a"), {"x": SIGNAL, "a": scalar(10**12)}, says="'DFT'", opset=20
)
case("a DFT of triples", node("DFT", "x"), {"x": ones(1, 8, 3)}, says="'DFT'", opset=20)
case(
    "a DFT inverse and one-sided of reals",
    node("DFT", "x", inverse=1, onesided=1),
    {"x": SIGNAL},
    says="'DFT'",
    opset=20,
)
for name, step, length in (
    ("steps of 0", 0, 4),
    ("steps of -1", -1, 4),
    ("frames of 0", 2, 0),
    ("frames beyond the signal", 2, 99),
    ("frames of -1", 2, -1),
):
    feeds = {"x": SIGNAL, "s": scalar(step), "l": scalar(length)}
    case(f"an STFT in {name}", node("STFT", "x s - l"), feeds, says="'STFT'")
case(
    "an STFT whose window is longer than its frame",
    node("STFT", "x s w l"),
    {"x": SIGNAL, "w": ones(99)},
    says="'STFT'",
    consts={"s": scalar(2), "l": scalar(4)},
    dims={"w": ["n"]},
)

MEL = {"bins": 4, "length": 16, "rate": 8000, "low": 0.0, "high": 4000.0}
for name, changes in {
    "-1 bins": {"bins": -1},
    "a length of -16": {"length": -16},
    "a rate of 0": {"rate": 0},
    "a rate of -1": {"rate": -1},
    "edges of NaN": {"low": np.nan},
    "edges of infinity": {"high": np.inf},
    "edges of -10^30": {"low": -1e30},
}.items():
    values = MEL | changes
    feeds = {key: scalar(values[key]) for key in ("bins", "length", "rate")}
    feeds |= {key: real(values[key]) for key in ("low", "high")}
    case(
        f"a MelWeightMatrix with {name}",
        node("MelWeightMatrix", "bins length rate low high"),
        feeds,
        says="'MelWeightMatrix'",
    )

for name, scales in {
    "NaN": [1, 1, np.nan, 1],
    "infinity": [1, 1, np.inf, 1],
    "0": [1, 1, 0, 1],
    "-1": [1, 1, -1, 1],
    "10^-30": [1, 1, 1e-30, 1],
}.items():
    feeds = {"x": PICTURE, "s": np.array(scales, np.float32)}
    answer = {"gives": ones(1, 1, 0, 4)} if name == "10^-30" else {}
    case(f"a Resize by {name}", node("Resize", "x - s"), feeds, says="'Resize'", **answer)
case("a Resize to -1", node("Resize", "x - - n"), {"x": PICTURE, "n": ints(1, 1, -1, 4)}, says="'Resize'")
case(
    "a Resize to scales and sizes",
    node("Resize", "x - s n"),
    {"x": PICTURE, "s": ones(4), "n": ints(1, 1, 4, 4)},
    says="'Resize'",
)
case(
    "a Resize of three scales",
    node("Resize", "x - s"),
    {"x": PICTURE, "s": ones(3)},
    says="'Resize'",
    dims={"s": ["n"]},
)
case(
    "a Resize of nothing to something",
    node("Resize", "x - - n"),
    {"x": ones(1, 1, 0, 4), "n": ints(1, 1, 4, 4)},
    says="'Resize'",
    dims={"x": list("abcd")},
)
case(
    "a Resize by an unknown mode",
    node("Resize", "x - s", mode="magic"),
    {"x": PICTURE, "s": ones(4)},
    says=("'Resize'", "mode"),
)
case(
    "a Resize by a cubic of NaN",
    node("Resize", "x - s", mode="cubic", cubic_coeff_a=float("nan")),
    {"x": PICTURE, "s": np.array([1, 1, 2, 2], np.float32)},
    gives=np.full((1, 1, 8, 8), np.nan, np.float32),
)
case(
    "a Resize with a region of NaN",
    node("Resize", "x r s", coordinate_transformation_mode="tf_crop_and_resize", extrapolation_value=7.0),
    {"x": PICTURE, "r": np.full(8, np.nan, np.float32), "s": ones(4)},
    gives=np.full((1, 1, 4, 4), 7, np.float32),  # no place of it lies inside
)

for name, number in (("infinity", np.inf), ("NaN", np.nan), ("1e30", 1e30), ("-1e30", -1e30)):
    for mode in ("linear", "nearest", "cubic"):
        grid = np.full((1, 2, 2, 2), number, np.float32)
        case(
            f"GridSample, {mode}, at {name}",
            node("GridSample", "x g", mode=mode),
            {"x": PICTURE, "g": grid},
            gives=np.zeros((1, 1, 2, 2), np.float32),
            opset=20,
        )
    case(
        f"GridSample by reflection at {name}",
        [node("GridSample", "x g", "v", padding_mode="reflection"), node("Shape", "v")],
        {"x": PICTURE, "g": np.full((1, 2, 2, 2), number, np.float32)},
        gives=ints(1, 1, 2, 2),
        opset=20,
    )
case(
    "GridSample of another batch",
    node("GridSample", "x g"),
    {"x": PICTURE, "g": ones(3, 2, 2, 2)},
    says="'GridSample'",
    dims={"g": list("abcd")},
    opset=20,
)
case(
    "GridSample of triples",
    node("GridSample", "x g"),
    {"x": PICTURE, "g": ones(1, 2, 2, 3)},
    says="'GridSample'",
    dims={"g": list("abcd")},
    opset=20,
)
case(
    "GridSample of nothing",
    node("GridSample", "x g", padding_mode="border"),
    {"x": ones(1, 1, 0, 4), "g": ones(1, 2, 2, 2)},
    says="'GridSample'",
    dims={"x": list("abcd")},
    opset=20,
)

ROIS = np.array([[0, 0, 3, 3]], np.float32)


def roi(**feeds):
    return {"x": PICTURE, "r": ROIS, "i": ints(0)} | feeds


case(
    "RoiAlign on an empty axis",
    node("RoiAlign", "x r i"),
    roi(x=ones(1, 1, 0, 4)),
    gives=np.zeros((1, 1, 1, 1), np.float32),
    dims={"x": list("abcd")},
)
case("RoiAlign of picture 10^12", node("RoiAlign", "x r i"), roi(i=ints(10**12)), says="'RoiAlign'")
case("RoiAlign of picture -1", node("RoiAlign", "x r i"), roi(i=ints(-1)), says="'RoiAlign'")
case(
    "RoiAlign of more regions than pictures",
    node("RoiAlign", "x r i"),
    roi(i=ints(0, 0)),
    says="'RoiAlign'",
    dims={"i": ["n"]},
)
case(
    "RoiAlign of a region of NaN",
    [node("RoiAlign", "x r i", "v"), node("Shape", "v")],
    roi(r=np.full((1, 4), np.nan, np.float32)),
    says="RoiAlign",
    gives=ints(1, 1, 1, 1),
)
case(
    "RoiAlign of a region of 1e30",
    [node("RoiAlign", "x r i", "v"), node("Shape", "v")],
    roi(r=np.array([[0, 0, 1e30, 1e30]], np.float32)),
    says="RoiAlign",
    gives=ints(1, 1, 1, 1),
)
case("RoiAlign of height 0", node("RoiAlign", "x r i", output_height=0), roi(), says="'RoiAlign'")
case(
    "MaxRoiPool of picture 10^9",
    node("MaxRoiPool", "x r", pooled_shape=[2, 2]),
    {"x": PICTURE, "r": np.array([[1e9, 0, 0, 1, 1]], np.float32)},
    says="'MaxRoiPool'",
)
case(
    "MaxRoiPool of a region far away",
    [node("MaxRoiPool", "x r", "v", pooled_shape=[2, 2]), node("Shape", "v")],
    {"x": PICTURE, "r": np.array([[0, -1e30, 1e30, np.nan, np.inf]], np.float32)},
    says="MaxRoiPool",
    gives=ints(1, 1, 2, 2),
)

BOXES, SCORES = np.array([[[0, 0, 1, 1], [0, 0, 1, 1]]], np.float32), np.array([[[0.9, 0.8]]], np.float32)


def boxes(**feeds):
    return {"b": BOXES, "s": SCORES, "m": scalar(5), "t": real(0.5)} | feeds


NMS = node("NonMaxSuppression", "b s m t")
case(
    "NonMaxSuppression of NaN",
    NMS,
    boxes(t=real(np.nan)),
    gives=ints(0, 0, 0, 0, 0, 1).reshape(2, 3),
)
case(
    "NonMaxSuppression of a threshold of 7",
    NMS,
    boxes(t=real(7)),
    gives=ints(0, 0, 0, 0, 0, 1).reshape(2, 3),
)
case(
    "NonMaxSuppression of -5 boxes",
    NMS,
    boxes(m=scalar(-5)),
    gives=np.zeros((0, 3), np.int64),
)
case("NonMaxSuppression of 2^63-1 boxes", NMS, boxes(m=scalar(2**63 - 1)), gives=ints(0, 0, 0).reshape(1, 3))
case(
    "NonMaxSuppression of more scores than boxes",
    NMS,
    boxes(s=ones(1, 1, 7)),
    says="'NonMaxSuppression'",
    dims={"s": list("abc"), "b": ["d", "e", 4]},
)
case(
    "NonMaxSuppression of other batches",
    NMS,
    boxes(s=ones(3, 1, 2)),
    says="'NonMaxSuppression'",
    dims={"s": list("abc"), "b": ["d", "e", 4]},
)
case(
    "NonMaxSuppression of no boxes",
    NMS,
    boxes(b=ones(1, 0, 4), s=ones(1, 1, 0)),
    gives=np.zeros((0, 3), np.int64),
    dims={"s": list("abc"), "b": ["d", "e", 4]},
)
case(
    "Upsample by 10^6",
    node("Upsample", "x s"),
    {"x": PICTURE, "s": np.array([1, 1, 1e6, 1e6], np.float32)},
    says="Upsample",
    opset=9,
)
