# SPDX-License-Identifier: Apache-2.0
"""Limits: a model that asks for terabytes is refused by name, a run past its limit or stopped in the middle of one long
kernel leaves a session that runs again, and no number of threads brings the process down."""

import logging
import time

import numpy as np
import pytest
from long_kernels import NAMES, long_model, session_of, stopped_after
from python_testing import model_of

import sardonyx

PROVIDERS = ["cpu", "reference"]
HUGE = 1 << 40
PROMPT = 1.0  # seconds; some milliseconds on a quiet machine


# What grows, by the numbers that it is fed: (operator, text of the graph, feed).
GROWING = {
    "ConstantOfShape": ("g (int64[1] n) => (float[N] y) { [big] y = ConstantOfShape(n) }", {"n": [HUGE]}),
    "Range": (
        "g (int64 a, int64 n, int64 d) => (int64[N] y) { [big] y = Range(a, n, d) }",
        {"a": 0, "n": HUGE, "d": 1},
    ),
    "Tile": (
        "g (int64[1] n) => (float[N] y) { x = Constant<value = float[2] {1, 2}>() [big] y = Tile(x, n) }",
        {"n": [HUGE]},
    ),
    "Expand": (
        "g (int64[1] n) => (float[N] y) { x = Constant<value = float[1] {1}>() [big] y = Expand(x, n) }",
        {"n": [HUGE]},
    ),
    "Pad": (
        "g (int64[2] n) => (float[N] y) { x = Constant<value = float[1] {1}>() [big] y = Pad(x, n) }",
        {"n": [0, HUGE]},
    ),
    "Resize": (
        "g (int64[2] n) => (float[A, B] y) { x = Constant<value = float[1, 1] {1}>() [big] y = Resize(x, , , n) }",
        {"n": [1, HUGE]},
    ),
    "OneHot": (
        """g (int64 n) => (float[A, B] y) {
          i = Constant<value = int64[1] {1}>() v = Constant<value = float[2] {0, 1}>() [big] y = OneHot(i, n, v)
        }""",
        {"n": HUGE},
    ),
    "HannWindow": ("g (int64 n) => (float[N] y) { [big] y = HannWindow(n) }", {"n": HUGE}),
    "MatMul": (
        """g (float[N, 1] a, float[1, M] b) => (float[N, M] y) { [big] y = MatMul(a, b) }""",
        {"a": np.ones((1 << 20, 1), np.float32), "b": np.ones((1, 1 << 20), np.float32)},
    ),
    "Einsum": (
        """g (float[N] a, float[M] b) => (float[N, M] y) { [big] y = Einsum<equation = "i,j->ij">(a, b) }""",
        {"a": np.ones(1 << 20, np.float32), "b": np.ones(1 << 20, np.float32)},
    ),
    "Add": (
        "g (float[N, 1] a, float[1, M] b) => (float[N, M] y) { [big] y = Add(a, b) }",
        {"a": np.ones((1 << 20, 1), np.float32), "b": np.ones((1, 1 << 20), np.float32)},
    ),
    "RandomNormal": (f"g () => (float[N] y) {{ [big] y = RandomNormal<shape = [{HUGE}]>() }}", {}),
    "Loop": (
        """g (int64 n) => (float[N, M] y) {
          more = Constant<value = bool {1}>()
          [big] y = Loop(n, more)<body = b (int64 i, bool go) => (bool on, float[M] row) {
            on = Identity(go) size = Constant<value = int64[1] {1000000}>() row = ConstantOfShape(size)
          }>
        }""",
        {"n": HUGE},
    ),
    "SequenceInsert": (
        """g (int64 n) => (int64 y) {
          more = Constant<value = bool {1}>()
          none = SequenceEmpty()
          [big] all = Loop(n, more, none)<body = b (int64 i, bool go, seq(float[M]) s) => (bool on, seq(float[M]) t) {
            on = Identity(go) size = Constant<value = int64[1] {1000000}>() row = ConstantOfShape(size)
            t = SequenceInsert(s, row)
          }>
          y = SequenceLength(all)
        }""",
        {"n": HUGE},
    ),
}


def feed_of(session, feed: dict) -> dict:
    kinds = {"tensor(int64)": np.int64, "tensor(float)": np.float32}
    return {v.name: np.asarray(feed[v.name], kinds[v.type]) for v in session.get_inputs()}


@pytest.mark.parametrize("provider", PROVIDERS)
@pytest.mark.parametrize("name", GROWING)
def test_terabytes_are_refused_by_name(name, provider):
    text, feed = GROWING[name]
    session = session_of(model_of(text, 20), provider, memory="300M")
    start = time.monotonic()
    with pytest.raises(MemoryError) as refused:
        session.run(None, feed_of(session, feed))
    assert time.monotonic() - start < 5
    assert "'big'" in str(refused.value), refused.value
    assert "300 MB" in str(refused.value), refused.value


def test_texts_that_double_are_counted():
    text = """g (int64 n) => (string y) {
      more = Constant<value = bool {1}>()
      letter = Constant<value = string {"sixteen letters."}>()
      [big] y = Loop(n, more, letter)<body = b (int64 i, bool go, string s) => (bool on, string t) {
        on = Identity(go) t = StringConcat(s, s)
      }>
    }"""
    session = session_of(model_of(text, 20), "cpu", memory="50M")
    with pytest.raises(MemoryError, match="'big'"):
        session.run(None, {"n": np.int64(60)})
    assert len(session.run(None, {"n": np.int64(2)})[0].item()) == 64


def test_a_constant_that_folds_to_terabytes_loads_and_is_refused_when_it_runs():
    text = (
        f"g () => (float[N] y) {{ n = Constant<value = int64[1] {{{HUGE}}}>() [big] y = ConstantOfShape(n) }}"
    )
    session = sardonyx.load(model_of(text, 20))
    with pytest.raises(MemoryError, match="'big'.*4.4 TB"):
        session()


@pytest.mark.parametrize("provider", PROVIDERS)
def test_after_a_refusal_the_session_runs(provider):
    text = "g (int64[1] n) => (float[N] y) { a = ConstantOfShape(n) [second] b = Exp(a) y = Neg(b) }"
    session = session_of(model_of(text, 20), provider, memory="100MB")
    for _ in range(3):
        with pytest.raises(MemoryError, match="limit of 100 MB"):
            session.run(None, {"n": np.array([30_000_000])})
        assert session.run(None, {"n": np.array([3_000_000])})[0].sum() == -3_000_000


def test_the_smaller_of_session_and_run_holds():
    model = model_of("g (int64[1] n) => (float[N] y) { y = ConstantOfShape(n) }", 20)
    session = session_of(model, "cpu", memory=10**9)
    with pytest.raises(MemoryError, match="limit of 10 MB"):
        session.run(None, {"n": np.array([5_000_000])}, sardonyx.RunOptions(memory_limit="10M"))
    run = sardonyx.RunOptions(memory_limit="100G")
    with pytest.raises(MemoryError, match="limit of 1.0 GB"):
        session.run(None, {"n": np.array([500_000_000])}, run)
    assert session.run(None, {"n": np.array([5_000_000])}, run)[0].shape == (5_000_000,)


def test_memory_comes_back():
    session = session_of(
        model_of("g (int64[1] n) => (float[N] y) { y = ConstantOfShape(n) }", 20), "cpu", memory="90M"
    )
    for _ in range(20):
        session.run(None, {"n": np.array([5_000_000])})
    kept = []
    with pytest.raises(MemoryError):
        for _ in range(5):  # 20 MB each
            kept += session.run(None, {"n": np.array([5_000_000])})
    assert len(kept) >= 2
    del kept
    session.run(None, {"n": np.array([5_000_000])})


def test_limits_as_people_write_them():
    model = model_of("g (int64[1] n) => (float[N] y) { y = ConstantOfShape(n) }", 20)
    options = sardonyx.SessionOptions()
    options.add_session_config_entry("session.memory_limit", "2M")
    with pytest.raises(MemoryError, match="2.0 MB"):
        sardonyx.InferenceSession(model, options).run(None, {"n": np.array([5_000_000])})
    run = sardonyx.RunOptions()
    run.add_run_config_entry("run.memory_limit", "3 MB")
    assert run.memory_limit == 3_000_000
    assert sardonyx.load(model, memory_limit="80%")(np.array([4])).shape == (4,)
    for wrong in ("", "2X", "-1", "nan", "1e400", "G", "0", "2 G B"):
        with pytest.raises(
            sardonyx.capi.onnxruntime_pybind11_state.InvalidArgument, match="amount of memory"
        ):
            sardonyx.load(model, memory_limit=wrong)
    with pytest.raises(ValueError, match="memory_limit is -1"):
        sardonyx.load(model, memory_limit=-1)


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("provider", PROVIDERS)
@pytest.mark.parametrize("name", NAMES)
def test_one_long_kernel_stops(name, provider, threads):
    model, feed = long_model(name)
    session = session_of(model, provider, threads)
    assert stopped_after(session, feed, lambda options: setattr(options, "terminate", True)) < PROMPT
    start = time.monotonic()
    with pytest.raises(TimeoutError, match="deadline"):
        session.run(None, feed, sardonyx.RunOptions(timeout=0.005))
    assert time.monotonic() - start < 0.005 + PROMPT
    with pytest.raises(TimeoutError):  # the session is still usable
        session.run(None, feed, sardonyx.RunOptions(timeout=1e-9))


def test_a_stopped_run_leaves_no_trace():
    model, feed = long_model("MatMul")
    session = session_of(model, "cpu", 2)
    a = feed["a"]
    stopped_after(session, {"a": a}, lambda options: setattr(options, "terminate", True))
    np.testing.assert_allclose(session.run(None, {"a": a})[0][:4], a[:4] @ a, atol=0.01)


@pytest.mark.parametrize("threads", [100_000, 2**40])
def test_a_foolish_number_of_threads(threads, caplog, x):
    relu = model_of("g (float[N, 4] x) => (float[N, 4] y) { y = Relu(x) }")
    with caplog.at_level(logging.WARNING, "sardonyx"):
        session = session_of(relu, "cpu", threads)
    assert "threads were asked for" in caplog.text
    np.testing.assert_array_equal(session.run(None, {"x": x})[0], np.maximum(x, 0))


def test_foolish_options_are_named(x):
    relu = model_of("g (float[N, 4] x) => (float[N, 4] y) { y = Relu(x) }")
    with pytest.raises(ValueError, match="intra_op_num_threads is -1"):
        session_of(relu, "cpu", -1)
    for threads in (1.5, "2", None):
        with pytest.raises(TypeError, match="intra_op_num_threads is .* expected a whole number"):
            session_of(relu, "cpu", threads)
    for limit in (1.5, None):
        with pytest.raises(TypeError, match="memory_limit is .* expected a whole number"):
            sardonyx.load(relu, memory_limit=limit)
    sardonyx.load(relu, memory_limit=2e9)
    for timeout in (-1.0, float("nan")):
        with pytest.raises(Exception, match="a timeout of"):
            sardonyx.InferenceSession(relu).run(None, {"x": x}, sardonyx.RunOptions(timeout=timeout))
    assert (
        sardonyx.InferenceSession(relu).run(None, {"x": x}, sardonyx.RunOptions(timeout=1e300))[0].shape
        == x.shape
    )
