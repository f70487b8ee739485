# SPDX-License-Identifier: Apache-2.0
"""InferenceSession and load(): options, names, errors, threads, interrupts."""

import logging
import subprocess
import sys
import threading
import time
from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import helper
from python_testing import ROOT, model_of

import sardonyx
from sardonyx.capi.onnxruntime_pybind11_state import (
    Fail,
    InvalidArgument,
    InvalidGraph,
    InvalidProtobuf,
    NoSuchFile,
)

RELU = model_of("g (float[N, 4] x) => (float[N, 4] y) { y = Relu(x) }")
TWO = model_of(
    "g (float[N, 4] a, float[N, 4] b) => (float[N, 4] s, float[N, 4] d) { s = Add(a, b) d = Sub(a, b) }"
)
# Counts to `n`, one step of a loop at a time.
LOOP = model_of(
    """g (int64 n) => (float y) {
      more = Constant<value = bool {1}>()
      zero = Constant<value = float {0}>()
      y = Loop(n, more, zero)<body = b (int64 i, bool go, float s) => (bool go_on, float t) {
        one = Constant<value = float {1}>()
        t = Add(s, one)
        go_on = Identity(go)
      }>
    }"""
)


def test_short_way(x):
    model = sardonyx.load(RELU)
    np.testing.assert_array_equal(model(x), np.maximum(x, 0))
    np.testing.assert_array_equal(model(x=x.tolist()), np.maximum(x, 0))
    two = sardonyx.load(TWO, threads=1)
    s, d = two(x, b=x + 1)
    np.testing.assert_array_equal(s, x + x + 1)
    np.testing.assert_array_equal(d, np.full_like(x, -1))
    assert "a" in repr(two) and "float32[N, 4]" in repr(two)
    with pytest.raises(TypeError, match="takes 1 inputs, 2"):
        model(x, x)
    with pytest.raises(TypeError, match="'a' is given by position and by name"):
        two(x, a=x)


def test_path_like(tmp_path, x):
    path = tmp_path / "mødel.onnx"
    path.write_bytes(RELU)
    for source in (path, str(path), bytearray(RELU), memoryview(RELU)):
        np.testing.assert_array_equal(sardonyx.load(source)(x), np.maximum(x, 0))
    assert "mødel.onnx" in repr(sardonyx.load(path))


def test_outputs_by_name(x):
    session = sardonyx.InferenceSession(TWO)
    feed = {"b": x, "a": 2 * x}
    d, s, again = session.run(["d", "s", "d"], feed)
    np.testing.assert_array_equal(d, x)
    np.testing.assert_array_equal(s, 3 * x)
    np.testing.assert_array_equal(again, x)
    d[0] = 7
    np.testing.assert_array_equal(again, x)  # two results, two arrays


def test_results_are_the_callers_own(x):
    session = sardonyx.InferenceSession(RELU)
    for rows in (1, 3000):  # small results are copied, large ones handed over
        feed = {"x": np.ones((rows, 4), np.float32)}
        first = session.run(None, feed)[0]
        first[:] = 5
        second = session.run(None, feed)[0]
        assert (
            (first == 5).all() and (second == 1).all() and first.flags.writeable and first.flags.c_contiguous
        )
    del session
    assert (first == 5).all()


def test_inputs_passed_through(x):
    """An output that is an input or a constant is a copy."""
    session = sardonyx.InferenceSession(
        model_of(
            "g (float[N, 4] x) => (float[N, 4] y, float[2] c) { y = Identity(x) c = Constant<value = float[2] {1, 2}>() }"
        )
    )
    big = np.ones((2000, 4), np.float32)
    y, c = session.run(None, {"x": big})
    y[:] = 3
    c[:] = 9
    assert (big == 1).all()
    np.testing.assert_array_equal(session.run(["c"], {"x": big})[0], [1, 2])


@pytest.mark.parametrize(
    ("feed", "words"),
    [
        ({}, ["a", "b", "float32[N, 4]"]),
        ({"a": np.ones((1, 4), np.float32)}, ["b", "float32[N, 4]"]),
        ({"a": np.ones((1, 4), np.float32), "b": np.ones((1, 4), np.float32), "c": 1}, ["'c'", "a", "b"]),
        ({"a": np.ones((1, 4)), "b": np.ones((1, 4), np.float32)}, ["'a'", "float64[1, 4]", "float32[N, 4]"]),
        ({"a": np.ones(4, np.float32), "b": np.ones((1, 4), np.float32)}, ["'a'", "[4]", "[N, 4]"]),
        ({"a": np.ones((1, 5), np.float32), "b": np.ones((1, 4), np.float32)}, ["'a'", "5", "4"]),
        ({"a": np.ones((1, 4), "M8[s]"), "b": np.ones((1, 4), np.float32)}, ["'a'", "datetime64"]),
        ({"a": None, "b": np.ones((1, 4), np.float32)}, ["'a'", "NoneType"]),
        ({1: None}, ["1", "name"]),
    ],
    ids=["nothing", "missing", "unknown", "type", "rank", "shape", "no type", "none", "key"],
)
def test_wrong_inputs(feed, words):
    session = sardonyx.InferenceSession(TWO)
    with pytest.raises(InvalidArgument) as caught:
        session.run(None, feed)
    assert isinstance(caught.value, ValueError)
    for word in words:
        assert word in str(caught.value)


def test_wrong_output_name(x):
    session = sardonyx.InferenceSession(RELU)
    with pytest.raises(InvalidArgument, match="'z'"):
        session.run(["z"], {"x": x})
    with pytest.raises(InvalidArgument, match="list"):
        session.run("y", {"x": x})


def test_wrong_files(tmp_path):
    with pytest.raises(NoSuchFile, match="nowhere") as caught:
        sardonyx.InferenceSession(tmp_path / "nowhere.onnx")
    assert isinstance(caught.value, FileNotFoundError)
    for data in (b"no model", RELU[: len(RELU) // 2], b""):
        with pytest.raises((InvalidGraph, InvalidProtobuf)):
            sardonyx.InferenceSession(data)
    with pytest.raises(sardonyx.SardonyxError):
        sardonyx.InferenceSession(tmp_path)


def test_providers():
    assert sardonyx.get_available_providers()[0] == "CPUExecutionProvider"
    session = sardonyx.InferenceSession(RELU, providers=[("CPUExecutionProvider", {"a": "1"})])
    assert session.get_providers() == ["CPUExecutionProvider"]
    assert session.get_provider_options() == {"CPUExecutionProvider": {"a": "1"}}
    with pytest.warns(UserWarning, match="NopeExecutionProvider"):
        session = sardonyx.InferenceSession(RELU, providers=["NopeExecutionProvider", "CPUExecutionProvider"])
    assert session.get_providers() == ["CPUExecutionProvider"]


def test_options(x):
    options = sardonyx.SessionOptions()
    options.intra_op_num_threads = 2
    options.inter_op_num_threads = 1
    options.log_severity_level = 0
    options.enable_profiling = False
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    options.add_free_dimension_override_by_name("N", 2)
    session = sardonyx.InferenceSession(RELU, sess_options=options)
    assert session.get_inputs()[0].shape == [2, 4]
    np.testing.assert_array_equal(session.run(None, {"x": x})[0], np.maximum(x, 0))
    with pytest.raises(AttributeError):
        options.no_such_option = 1
    with pytest.raises(InvalidArgument):
        session.run(None, {"x": np.ones((3, 4), np.float32)})


def test_taps(x):
    model = sardonyx.load(
        model_of("g (float[N, 4] x) => (float[N, 4] y) { h = Neg(x) y = Relu(h) }"), taps=["h"]
    )
    y, h = model(x)
    np.testing.assert_array_equal(h, -x)
    np.testing.assert_array_equal(y, np.maximum(-x, 0))


def test_metadata():
    model = onnx.load_from_string(RELU)
    model.producer_name, model.domain, model.doc_string, model.model_version = "p", "d", "words", 7
    helper.set_model_props(model, {"author": "Ünal"})
    meta = sardonyx.InferenceSession(model.SerializeToString()).get_modelmeta()
    assert (meta.producer_name, meta.domain, meta.description, meta.version) == ("p", "d", "words", 7)
    assert (meta.graph_name, meta.custom_metadata_map) == ("g", {"author": "Ünal"})


def test_explain():
    answer = sardonyx.explain(ROOT / "models" / "digits" / "digits.onnx")
    assert answer["steps"] and {"step", "kernel", "provider", "fused", "claims"} <= answer["steps"][0].keys()
    assert any(step["provider"] == "cpu" for step in answer["steps"])


def test_io_binding(x):
    session = sardonyx.InferenceSession(TWO)
    binding = session.io_binding()
    binding.bind_cpu_input("a", x)
    binding.bind_ortvalue_input("b", sardonyx.OrtValue.ortvalue_from_numpy(x))
    out = sardonyx.OrtValue.ortvalue_from_shape_and_type((2, 4), np.float32)
    binding.bind_ortvalue_output("s", out)
    binding.bind_output("d")
    session.run_with_iobinding(binding)
    np.testing.assert_array_equal(out.numpy(), 2 * x)
    np.testing.assert_array_equal(binding.copy_outputs_to_cpu()[1], 0 * x)


def bound_to(array, x):
    binding = sardonyx.InferenceSession(TWO).io_binding()
    binding.bind_cpu_input("a", x)
    binding.bind_cpu_input("b", x)
    binding.bind_output("s", "cpu", 0, array.dtype, array.shape, array.ctypes.data)
    return binding


def test_io_binding_to_memory(x):
    there = np.zeros((2, 4), np.float32)
    binding = bound_to(there, x)
    binding._session.run_with_iobinding(binding)
    np.testing.assert_array_equal(there, 2 * x)


@pytest.mark.parametrize("shape, dtype", [((4,), "f4"), ((1, 4), "f4"), ((2, 4), "f8"), ((2, 8), "f4")])
def test_io_binding_to_memory_that_does_not_fit(x, shape, dtype):
    there = np.zeros(shape, dtype)
    binding = bound_to(there, x)
    with pytest.raises(sardonyx.SardonyxError, match=r"output 's' is float32\[2, 4\], it is bound to"):
        binding._session.run_with_iobinding(binding)
    assert not there.any()


def test_exceptions_hold_no_control_characters(x):
    session = sardonyx.InferenceSession(TWO)
    with pytest.raises(sardonyx.SardonyxError, match=r"'\\x1b\[31mc'"):
        session.run(None, {"\x1b[31mc": x})


def test_threads_share_a_session():
    session = sardonyx.InferenceSession(ROOT / "models" / "digits" / "digits.onnx")
    name = session.get_inputs()[0].name
    samples = [np.load(path) for path in sorted((ROOT / "models" / "digits").glob("sample_*.npy"))]
    shape = [d if isinstance(d, int) else 1 for d in session.get_inputs()[0].shape]
    feeds = [{name: sample.astype(np.float32).reshape(shape)} for sample in samples]
    expected = [session.run(None, feed) for feed in feeds]
    wrong = []

    def work(k: int) -> None:
        for turn in range(50):
            which = (k + turn) % len(feeds)
            for a, b in zip(session.run(None, feeds[which]), expected[which], strict=True):
                if not np.array_equal(a, b):
                    wrong.append((k, turn))

    threads = [threading.Thread(target=work, args=(k,)) for k in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


def test_the_lock_is_free_during_a_run():
    session = sardonyx.InferenceSession(LOOP)
    options = sardonyx.RunOptions()
    caught = []

    def work() -> None:
        try:
            session.run(None, {"n": np.int64(2**60)}, options)
        except Fail as error:
            caught.append(error)

    thread = threading.Thread(target=work)
    thread.start()
    ticks = 0
    start = time.monotonic()
    while time.monotonic() - start < 0.2:
        ticks += 1
    options.terminate = True
    thread.join(10)
    assert not thread.is_alive() and ticks > 1000
    assert "cancelled" in str(caught[0])
    options.terminate = False
    assert session.run(None, {"n": np.int64(3)}, options)[0] == 3


def test_deadline():
    session = sardonyx.InferenceSession(LOOP)
    start = time.monotonic()
    with pytest.raises(TimeoutError, match="deadline"):
        session.run(None, {"n": np.int64(2**60)}, sardonyx.RunOptions(timeout=0.1))
    assert time.monotonic() - start < 2
    with pytest.raises(Fail):
        sardonyx.load(LOOP)(np.int64(2**60), timeout=0.05)


def test_keyboard_interrupt(tmp_path):
    (tmp_path / "loop.onnx").write_bytes(LOOP)
    code = """if True:
        import signal, sys, threading, time, numpy, sardonyx, os
        signal.signal(signal.SIGINT, signal.default_int_handler)  # a background job ignores it
        session = sardonyx.InferenceSession(sys.argv[1])
        threading.Timer(0.3, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
        start = time.monotonic()
        try:
            session.run(None, {"n": numpy.int64(2**60)})
        except KeyboardInterrupt:
            print("interrupted", time.monotonic() - start < 2)
        print(session.run(None, {"n": numpy.int64(5)})[0])
    """
    done = subprocess.run(
        [sys.executable, "-c", code, str(tmp_path / "loop.onnx")], capture_output=True, text=True, timeout=60
    )
    assert done.stdout.split() == ["interrupted", "True", "5.0"], done.stderr


def test_log(caplog):
    """Messages of the library come through Python's logging, and only there."""
    options = sardonyx.SessionOptions()
    options.log_severity_level = 0
    with caplog.at_level(logging.DEBUG, "sardonyx"):
        sardonyx.InferenceSession(RELU, options)
    assert all(record.name == "sardonyx" for record in caplog.records)


def test_stubs_are_there():
    package = Path(sardonyx.__file__).resolve().parent
    assert (package / "py.typed").exists() and (package / "_sardonyx.pyi").exists()
    assert sardonyx.__version__
