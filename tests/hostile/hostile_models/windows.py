# SPDX-License-Identifier: Apache-2.0
"""Convolutions and pools: pads, strides, dilations, kernels and groups that cannot be."""

import numpy as np

from .build import case, count, ints, node, ones

X = count(1, 16, 8, 8)
W = ones(16, 16, 3, 3)
BYTES = ones(1, 16, 8, 8, dtype=np.uint8)
BYTE_W = ones(16, 16, 3, 3, dtype=np.uint8)
SCALES = {"s": ones(), "z": np.zeros((), np.uint8)}

for op in ("MaxPool", "AveragePool", "LpPool"):

    def pool(op=op, **attributes):
        return node(op, "x", **({"kernel_shape": [2, 2]} | attributes))

    case(f"{op} with negative pads", pool(pads=[-2, -2, 2, 2]), {"x": X}, says=(f"'{op}'", "pad", "-2"))
    case(f"{op} with strides of 0", pool(strides=[0, 1]), {"x": X}, says=(f"'{op}'", "stride 0"))
    case(f"{op} with a kernel of 0", pool(kernel_shape=[0, 2]), {"x": X}, says=(f"'{op}'", "kernel 0"))
    case(f"{op} with a kernel beyond its input", pool(kernel_shape=[9, 2]), {"x": X}, says=f"'{op}'")
    case(f"{op} with three pads", pool(pads=[1, 1, 1]), {"x": X}, says=(f"'{op}'", "pads"))
    case(f"{op} of a vector", pool(), {"x": ones(4)}, says=f"'{op}'")
    case(f"{op} with dilation 2^31", pool(dilations=[2**31, 1]), {"x": X}, says=f"'{op}'", opset=22)
    case(f"{op} with dilation 2^62", pool(dilations=[2**62, 1]), {"x": X}, says=f"'{op}'", opset=22)
    case(f"{op} with pads of 2^62", pool(pads=[2**62] * 4), {"x": X}, says=f"'{op}'")
    case(
        f"{op} on fed sizes below its kernel",
        pool(),
        {"x": X[..., :1]},
        says=f"'{op}'",
        dims={"x": list("NCHW")},
    )

MAKES = {
    "Conv": (lambda **a: node("Conv", "x w", **a), {"x": X}, {"w": W}),
    "ConvInteger": (lambda **a: node("ConvInteger", "x w", **a), {"x": BYTES}, {"w": BYTE_W}),
    "QLinearConv": (
        lambda **a: node("QLinearConv", "x s z w s z s z", **a),
        {"x": BYTES},
        {"w": BYTE_W} | SCALES,
    ),
    "ConvTranspose": (lambda **a: node("ConvTranspose", "x w", **a), {"x": X}, {"w": W}),
}
for op, (make, feeds, consts) in MAKES.items():
    with_w = {"consts": consts}
    case(
        f"{op} with negative pads", make(pads=[-2, -2, 2, 2]), feeds, says=(f"'{op}'", "pad", "-2"), **with_w
    )
    case(f"{op} with strides of 0", make(strides=[1, 0]), feeds, says=(f"'{op}'", "stride 0"), **with_w)
    case(f"{op} with strides of -1", make(strides=[1, -1]), feeds, says=(f"'{op}'", "stride -1"), **with_w)
    case(f"{op} with dilations of 0", make(dilations=[0, 1]), feeds, says=(f"'{op}'", "dilation 0"), **with_w)
    case(f"{op} with dilation 2^62", make(dilations=[2**62, 1]), feeds, says=f"'{op}'", **with_w)
    case(f"{op} with group 3", make(group=3), feeds, says=f"'{op}'", **with_w)
    case(f"{op} with group 0", make(group=0), feeds, says=(f"'{op}'", "group"), **with_w)
    case(f"{op} with group -1", make(group=-1), feeds, says=(f"'{op}'", "group"), **with_w)
    case(f"{op} with another kernel_shape", make(kernel_shape=[5, 5]), feeds, says=f"'{op}'", **with_w)
    case(
        f"{op} with an unknown auto_pad", make(auto_pad="SAME"), feeds, says=(f"'{op}'", "auto_pad"), **with_w
    )
    fed = feeds | {"w": consts["w"]}
    rest = {key: value for key, value in consts.items() if key != "w"}
    case(
        f"{op} whose fed W is not of its kernel_shape",
        make(kernel_shape=[5, 5]),
        fed,
        says=f"'{op}'",
        consts=rest,
        dims={"w": [16, 16, "h", "w"]},
    )
    case(
        f"{op} whose fed x has other channels",
        make(),
        {"x": feeds["x"][:, :15]},
        says=f"'{op}'",
        dims={"x": ["n", "c", "h", "w"]},
        **with_w,
    )

case("Conv of a vector", node("Conv", "x w"), {"x": ones(4)}, says="'Conv'", consts={"w": W})
case(
    "Conv whose bias is short", node("Conv", "x w b"), {"x": X}, says="'Conv'", consts={"w": W, "b": ones(15)}
)
case(
    "Conv whose fed bias is short",
    node("Conv", "x w b"),
    {"x": X, "b": ones(15)},
    says="'Conv'",
    consts={"w": W},
    dims={"b": ["m"]},
)
case(
    "Conv with a kernel beyond its input",
    node("Conv", "x w"),
    {"x": X[..., :2]},
    says="'Conv'",
    consts={"w": W},
)
case(
    "Conv with pads of 2^40", node("Conv", "x w", pads=[2**40] * 4), {"x": X}, says="'Conv'", consts={"w": W}
)
case(
    "Conv with pads of 2^62", node("Conv", "x w", pads=[2**62] * 4), {"x": X}, says="'Conv'", consts={"w": W}
)
case(
    "Conv over no channels",
    node("Conv", "x w"),
    {"x": ones(1, 0, 8, 8)},
    gives=np.zeros((1, 16, 6, 6), np.float32),
    consts={"w": ones(16, 0, 3, 3)},
)
case(
    "Conv over no pictures",
    node("Conv", "x w"),
    {"x": ones(0, 16, 8, 8)},
    gives=np.zeros((0, 16, 6, 6), np.float32),
    consts={"w": W},
    dims={"x": ["n", 16, 8, 8]},
)
case(
    "ConvTranspose to an output_shape of 10^6 by 10^6",
    node("ConvTranspose", "x w", output_shape=[10**6, 10**6]),
    {"x": X},
    says="'ConvTranspose'",
    consts={"w": W},
)
case(
    "ConvTranspose to a negative output_shape",
    node("ConvTranspose", "x w", output_shape=[-1, 8]),
    {"x": X},
    says="'ConvTranspose'",
    consts={"w": W},
)
case(
    "ConvTranspose with output_padding -5",
    node("ConvTranspose", "x w", output_padding=[-5, 0]),
    {"x": X},
    says="'ConvTranspose'",
    consts={"w": W},
)
case(
    "DeformConv with negative pads",
    node("DeformConv", "x w o", pads=[-2, -2, 2, 2]),
    {"x": X, "o": np.zeros((1, 18, 6, 6), np.float32)},
    says="'DeformConv'",
    consts={"w": W},
)
case(
    "DeformConv with offsets of another size",
    node("DeformConv", "x w o"),
    {"x": X, "o": np.zeros((1, 18, 2, 2), np.float32)},
    says="'DeformConv'",
    consts={"w": W},
    dims={"o": list("abcd")},
)
case(
    "MaxUnpool with indices far outside",
    node("MaxUnpool", "x i", kernel_shape=[2, 2], strides=[2, 2]),
    {"x": ones(1, 1, 2, 2), "i": ints(0, 5, 10**12, -7).reshape(1, 1, 2, 2)},
    says="'MaxUnpool'",
)
case(
    "Col2Im of blocks that do not fit",
    node("Col2Im", "x i b"),
    {"x": ones(1, 5, 6)},
    says="'Col2Im'",
    consts={"i": ints(5, 5), "b": ints(1, 5)},
    dims={"x": list("abc")},
)
case(
    "Col2Im onto a picture of 10^12",
    node("Col2Im", "x i b"),
    {"x": ones(1, 5, 5)},
    says="'Col2Im'",
    consts={"i": ints(10**6, 10**6), "b": ints(1, 5)},
)
case("LRN of size 0", node("LRN", "x", size=0), {"x": X}, says="'LRN'")
case("LRN of size -3", node("LRN", "x", size=-3), {"x": X}, says="'LRN'")
case(
    "DepthToSpace by 0",
    node("DepthToSpace", "x", blocksize=0),
    {"x": X},
    says=("'DepthToSpace'", "blocksize"),
)
case("DepthToSpace by 2^32", node("DepthToSpace", "x", blocksize=2**32), {"x": X}, says="'DepthToSpace'")
case("SpaceToDepth by 3", node("SpaceToDepth", "x", blocksize=3), {"x": X}, says="'SpaceToDepth'")
