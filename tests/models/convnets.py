# SPDX-License-Identifier: Apache-2.0
"""Stand-ins for the residual networks: 20 channels (not a multiple of any vector), 64 with bottlenecks, free size."""

from pathlib import Path

import numpy as np
from onnx import TensorProto

from net import Net, store


def conv(net: Net, x: str, name: str, inputs: int, outputs: int, size: int, stride: int = 1) -> str:
    weight = net.weight(f"{name}.weight", outputs, inputs, size, size)
    bias = net.weight(f"{name}.bias", outputs, scale=0.1)
    pad = size // 2
    return net.op(
        "Conv",
        x,
        weight,
        bias,
        kernel_shape=[size, size],
        strides=[stride, stride],
        pads=[pad] * 4,
        dilations=[1, 1],
        group=1,
    )


def basic_block(net: Net, x: str, name: str, inputs: int, outputs: int, stride: int) -> str:
    y = net.op("Relu", conv(net, x, f"{name}.conv1", inputs, outputs, 3, stride))
    y = conv(net, y, f"{name}.conv2", outputs, outputs, 3)
    if stride != 1 or inputs != outputs:
        x = conv(net, x, f"{name}.downsample", inputs, outputs, 1, stride)
    return net.op("Relu", net.op("Add", y, x))


def bottleneck(net: Net, x: str, name: str, inputs: int, middle: int, outputs: int, stride: int) -> str:
    y = net.op("Relu", conv(net, x, f"{name}.conv1", inputs, middle, 1))
    y = net.op("Relu", conv(net, y, f"{name}.conv2", middle, middle, 3, stride))
    y = conv(net, y, f"{name}.conv3", middle, outputs, 1)
    if stride != 1 or inputs != outputs:
        x = conv(net, x, f"{name}.downsample", inputs, outputs, 1, stride)
    return net.op("Relu", net.op("Add", y, x))


def max_pool(net: Net, x: str) -> str:
    return net.op("MaxPool", x, kernel_shape=[3, 3], strides=[2, 2], pads=[1, 1, 1, 1], ceil_mode=0)


def dense(net: Net, x: str, inputs: int, outputs: int) -> None:
    weight, bias = net.weight("fc.weight", outputs, inputs), net.weight("fc.bias", outputs, scale=0.1)
    net.op("Gemm", x, weight, bias, out="scores", alpha=1.0, beta=1.0, transB=1)
    net.result("scores", TensorProto.FLOAT, ["N", outputs])


def picture(seed: int, *shape: int) -> dict[str, np.ndarray]:
    return {"image": np.random.default_rng(seed).standard_normal(shape).astype(np.float32)}


def residual_20(folder: Path) -> None:
    """20 channels, basic blocks, free batch, global average pooling (the older exporter's spelling)."""
    net = Net("residual_20", 17)
    x = net.input("image", TensorProto.FLOAT, ["N", 3, 32, 32])
    x = max_pool(net, net.op("Relu", conv(net, x, "stem", 3, 20, 3)))
    x = basic_block(net, x, "block1", 20, 20, 1)
    x = basic_block(net, x, "block2", 20, 36, 2)
    x = net.op("Flatten", net.op("GlobalAveragePool", x), axis=1)
    dense(net, x, 36, 10)
    store(folder, net.model(), [picture(1, 2, 3, 32, 32), picture(2, 1, 3, 32, 32)])


def residual_64(folder: Path) -> None:
    """7x7 stem, bottlenecks with 1x1, 3x3 and stride 2, mean over the picture (the newer exporter's spelling)."""
    net = Net("residual_64", 20)
    x = net.input("image", TensorProto.FLOAT, ["N", 3, 56, 56])
    x = max_pool(net, net.op("Relu", conv(net, x, "stem", 3, 64, 7, 2)))
    x = bottleneck(net, x, "block1", 64, 64, 256, 1)
    x = bottleneck(net, x, "block2", 256, 64, 256, 1)
    x = bottleneck(net, x, "block3", 256, 128, 256, 2)
    x = net.op("ReduceMean", x, net.initializer("axes", np.array([-1, -2])), keepdims=1)
    x = net.op("Reshape", x, net.initializer("rows", np.array([-1, 256])), allowzero=1)
    dense(net, x, 256, 100)
    store(folder, net.model(ir_version=10), [picture(3, 1, 3, 56, 56), picture(4, 2, 3, 56, 56)])


def residual_free_size(folder: Path) -> None:
    """Batch, height and width free; strides make the sizes of later layers expressions of them."""
    net = Net("residual_free_size", 17)
    x = net.input("image", TensorProto.FLOAT, ["N", 3, "H", "W"])
    x = net.op("Relu", conv(net, x, "stem", 3, 16, 5, 2))
    x = basic_block(net, x, "block1", 16, 24, 2)
    x = net.op("Flatten", net.op("GlobalAveragePool", x), axis=1)
    dense(net, x, 24, 7)
    store(folder, net.model(), [picture(5, 1, 3, 33, 47), picture(6, 3, 3, 16, 20)])


MODELS = [residual_20, residual_64, residual_free_size]
