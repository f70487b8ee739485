# SPDX-License-Identifier: Apache-2.0
"""One long kernel each, and how soon a run of it ends when it is stopped. tests/python and bench/stops.py use them."""

import functools
import threading
import time

import numpy as np
from onnx import TensorProto, helper
from python_testing import model_of

import sardonyx


def session_of(model: bytes, provider: str, threads: int = 1, memory=0) -> sardonyx.InferenceSession:
    options = sardonyx.SessionOptions()
    options.intra_op_num_threads = threads
    options.memory_limit = memory
    return sardonyx.InferenceSession(model, options, [provider])


def _random(*dims):
    return np.random.default_rng(1).standard_normal(dims, np.float32)


# (text of the graph, inputs)
LONG = {
    "MatMul": ("g (float[4096, 4096] a) => (float[4096, 4096] y) { y = MatMul(a, a) }", {"a": (4096, 4096)}),
    "Conv": (
        "g (float[8, 128, 256, 256] x, float[128, 128, 3, 3] w) => (float[8, 128, 256, 256] y)"
        " { y = Conv<pads = [1, 1, 1, 1]>(x, w) }",
        {"x": (8, 128, 256, 256), "w": (128, 128, 3, 3)},
    ),
    "Einsum": (
        """g (float[2048, 2048] a) => (float[2048, 2048] y) { y = Einsum<equation = "ij,jk->ik">(a, a) }""",
        {"a": (2048, 2048)},
    ),
    "Softmax": (
        "g (float[30000, 4096] x) => (float[30000, 4096] y) { y = Softmax(x) }",
        {"x": (30000, 4096)},
    ),
    "Erf": ("g (float[50000000] x) => (float[50000000] y) { y = Erf(x) }", {"x": (50_000_000,)}),
    "TopK": (
        "g (float[20000000] x) => (float[1000000] y, int64[1000000] i)"
        " { k = Constant<value = int64[1] {1000000}>() y, i = TopK(x, k) }",
        {"x": (20_000_000,)},
    ),
    "Unique": ("g (float[20000000] x) => (float[N] y) { y = Unique(x) }", {"x": (20_000_000,)}),
    "LSTM": (
        "g (float[200000, 1, 64] x, float[1, 256, 64] w, float[1, 256, 64] r) => (float[200000, 1, 1, 64] y)"
        " { y = LSTM<hidden_size = 64>(x, w, r) }",
        {"x": (200_000, 1, 64), "w": (1, 256, 64), "r": (1, 256, 64)},
    ),
    "Attention": (
        "g (float[1, 8, 12000, 64] q, float[1, 8, 12000, 64] k) => (float[1, 8, 12000, 64] y) { y = Attention(q, k, k) }",
        {"q": (1, 8, 12000, 64), "k": (1, 8, 12000, 64)},
    ),
    "ReduceSum": (
        "g (float[12000, 8000] x) => (float[8000] y)"
        " { a = Constant<value = int64[1] {0}>() y = ReduceSum<keepdims = 0>(x, a) }",
        {"x": (12000, 8000)},
    ),
    "Transpose": (
        "g (float[10000, 10000] x) => (float[10000, 10000] y) { y = Transpose(x) }",
        {"x": (10000, 10000)},
    ),
    "MaxPool": (
        "g (float[4, 64, 512, 512] x) => (float[4, 64, 498, 498] y) { y = MaxPool<kernel_shape = [15, 15]>(x) }",
        {"x": (4, 64, 512, 512)},
    ),
    "DFT": (
        "g (float[1, 100003, 1] x) => (float[1, 100003, 2] y) { y = DFT<axis = 1>(x) }",
        {"x": (1, 100_003, 1)},
    ),
    "Softmax along rows": (
        "g (float[30000000, 2] x) => (float[30000000, 2] y) { y = Softmax<axis = 0>(x) }",
        {"x": (30_000_000, 2)},
    ),
    "Softmax of one row": (
        "g (float[1, 60000000] x) => (float[1, 60000000] y) { y = Softmax(x) }",
        {"x": (1, 60_000_000)},
    ),
    "LayerNormalization": (
        "g (float[2, 30000000] x, float[30000000] s) => (float[2, 30000000] y) { y = LayerNormalization(x, s) }",
        {"x": (2, 30_000_000), "s": (30_000_000,)},
    ),
    "InstanceNormalization": (
        "g (float[1, 2, 30000000] x, float[2] s) => (float[1, 2, 30000000] y) { y = InstanceNormalization(x, s, s) }",
        {"x": (1, 2, 30_000_000), "s": (2,)},
    ),
    "BatchNormalization": (
        "g (float[1, 4, 5000, 4000] x, float[4] s) => (float[1, 4, 5000, 4000] y)"
        " { v = Mul(s, s) y = BatchNormalization(x, s, s, s, v) }",
        {"x": (1, 4, 5000, 4000), "s": (4,)},
    ),
    "ReduceLogSumExp to one": (
        "g (float[80000000] x) => (float y) { y = ReduceLogSumExp<keepdims = 0>(x) }",
        {"x": (80_000_000,)},
    ),
    "ArgMax": (
        "g (float[80000000] x) => (int64 y) { y = ArgMax<keepdims = 0>(x) }",
        {"x": (80_000_000,)},
    ),
    "GRU": (
        "g (float[100000, 1, 32] x, float[1, 96, 32] w, float[1, 96, 32] r) => (float[100000, 1, 1, 32] y)"
        " { y = GRU<hidden_size = 32>(x, w, r) }",
        {"x": (100_000, 1, 32), "w": (1, 96, 32), "r": (1, 96, 32)},
    ),
    "RNN": (
        "g (float[100000, 1, 64] x, float[1, 64, 64] w, float[1, 64, 64] r) => (float[100000, 1, 1, 64] y)"
        " { y = RNN<hidden_size = 64>(x, w, r) }",
        {"x": (100_000, 1, 64), "w": (1, 64, 64), "r": (1, 64, 64)},
    ),
    "ConvTranspose": (
        "g (float[1, 64, 128, 128] x, float[64, 64, 4, 4] w) => (float[1, 64, 258, 258] y)"
        " { y = ConvTranspose<strides = [2, 2]>(x, w) }",
        {"x": (1, 64, 128, 128), "w": (64, 64, 4, 4)},
    ),
    "Conv, depthwise": (
        "g (float[1, 64, 1024, 1024] x, float[64, 1, 7, 7] w) => (float[1, 64, 1024, 1024] y)"
        " { y = Conv<group = 64, pads = [3, 3, 3, 3]>(x, w) }",
        {"x": (1, 64, 1024, 1024), "w": (64, 1, 7, 7)},
    ),
    "Resize": (
        "g (float[1, 8, 512, 512] x) => (float[1, 8, 3072, 3072] y)"
        ' { s = Constant<value = float[4] {1, 1, 6, 6}>() y = Resize<mode = "cubic">(x, , s) }',
        {"x": (1, 8, 512, 512)},
    ),
    "GridSample": (
        "g (float[1, 8, 256, 256] x, float[1, 2000, 2000, 2] g) => (float[1, 8, 2000, 2000] y)"
        " { y = GridSample(x, g) }",
        {"x": (1, 8, 256, 256), "g": (1, 2000, 2000, 2)},
    ),
    "Gemm": (
        "g (float[3000, 3000] a, float[3000, 3000] b) => (float[3000, 3000] y) { y = Gemm<transA = 1>(a, b) }",
        {"a": (3000, 3000), "b": (3000, 3000)},
    ),
    "MatMul of vectors": (
        "g (float[1, 60000000] a, float[60000000, 1] b) => (float[1, 1] y) { y = MatMul(a, b) }",
        {"a": (1, 60_000_000), "b": (60_000_000, 1)},
    ),
    "Concat": (
        "g (float[5000, 5000] x) => (float[5000, 15000] y) { y = Concat<axis = 1>(x, x, x) }",
        {"x": (5000, 5000)},
    ),
    "Pad": (
        "g (float[6000, 6000] x) => (float[A, B] y)"
        ' { p = Constant<value = int64[4] {1, 1, 1, 1}>() y = Pad<mode = "reflect">(x, p) }',
        {"x": (6000, 6000)},
    ),
    "Where": (
        "g (float[60000000] x) => (float[60000000] y) { z = Neg(x) c = Less(x, z) y = Where(c, x, z) }",
        {"x": (60_000_000,)},
    ),
    "Det": ("g (float[3, 900, 900] x) => (float[3] y) { y = Det(x) }", {"x": (3, 900, 900)}),
    "Multinomial": (
        "g (float[4, 20000] x) => (int32[4, 200000] y) { y = Multinomial<sample_size = 200000>(x) }",
        {"x": (4, 20_000)},
    ),
    "RandomNormalLike": (
        "g (float[60000000] x) => (float[60000000] y) { y = RandomNormalLike(x) }",
        {"x": (60_000_000,)},
    ),
    "CumSum": (
        "g (float[100000000] x) => (float[100000000] y) { a = Constant<value = int64 {0}>() y = CumSum(x, a) }",
        {"x": (100_000_000,)},
    ),
}


TREES = "TreeEnsembleRegressor"


def _trees() -> tuple[bytes, dict]:
    """A forest of 20,000 stumps over 50,000 rows."""
    n = 20_000
    parts = {
        "nodes_treeids": np.repeat(np.arange(n), 3).tolist(),
        "nodes_nodeids": [0, 1, 2] * n,
        "nodes_featureids": [0, 0, 0] * n,
        "nodes_values": [0.0, 0.0, 0.0] * n,
        "nodes_modes": ["BRANCH_LEQ", "LEAF", "LEAF"] * n,
        "nodes_truenodeids": [1, 0, 0] * n,
        "nodes_falsenodeids": [2, 0, 0] * n,
        "target_treeids": np.repeat(np.arange(n), 2).tolist(),
        "target_nodeids": [1, 2] * n,
        "target_ids": [0, 0] * n,
        "target_weights": [1.0, -1.0] * n,
    }
    node = helper.make_node(
        "TreeEnsembleRegressor",
        ["x"],
        ["y"],
        domain="ai.onnx.ml",
        n_targets=1,
        aggregate_function="SUM",
        **parts,
    )
    graph = helper.make_graph(
        [node],
        "g",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, [50_000, 4])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, [50_000, 1])],
    )
    opsets = [helper.make_opsetid("", 17), helper.make_opsetid("ai.onnx.ml", 3)]
    return helper.make_model(graph, opset_imports=opsets, ir_version=8).SerializeToString(), {
        "x": (50_000, 4)
    }


@functools.lru_cache(1)
def long_model(name: str) -> tuple[bytes, dict]:
    """The model and what it is fed."""
    if name == TREES:
        model, dims = _trees()
    else:
        text, dims = LONG[name]
        model = model_of(text, 23 if name == "Attention" else 17)
    return model, {key: _random(*d) for key, d in dims.items()}


def stopped_after(session, feed, stop, delay: float = 0.15) -> float:
    """Seconds between stop(options) and the end of the run that is under way: one begins as the other ends."""
    options = sardonyx.RunOptions()
    outcome = []

    def work():
        try:
            while True:
                session.run(None, feed, options)
        except Exception as e:
            outcome.append(e)

    thread = threading.Thread(target=work)
    thread.start()
    time.sleep(delay)
    assert thread.is_alive(), outcome
    start = time.monotonic()
    stop(options)
    thread.join()
    took = time.monotonic() - start
    assert "cancelled" in str(outcome[0]), outcome
    return took


NAMES = [*LONG, TREES]
