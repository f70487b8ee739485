# SPDX-License-Identifier: Apache-2.0
"""--memory, --timeout, --threads and Ctrl-C where a model runs."""

import signal
import subprocess
import time

import pytest
from onnx import parser
from program import DIGITS, PROGRAM, run

HEADER = '<ir_version: 8, opset_import: ["": 17]>\n'


def written(path, text):
    path.write_bytes(parser.parse_model(HEADER + text).SerializeToString())
    return path


@pytest.fixture
def huge(tmp_path):
    """A kilobyte that asks for terabytes."""
    text = "g () => (float[N] y) { n = Constant<value = int64[1] {1000000000000}>() [big] y = ConstantOfShape(n) }"
    return written(tmp_path / "huge.onnx", text)


@pytest.fixture
def product(tmp_path):
    """One product that takes seconds."""
    text = """g () => (float[8192, 8192] y) {
      n = Constant<value = int64[2] {8192, 8192}>() a = ConstantOfShape<value = float[1] {0.5}>(n) y = MatMul(a, a)
    }"""
    return written(tmp_path / "long.onnx", text)


@pytest.mark.parametrize("verb", ["run", "bench", "profile"])
def test_terabytes_are_refused(huge, verb):
    begin = time.monotonic()
    error = run(verb, huge, "--memory", "2G", status=4)[1]
    assert "node 'big' (ConstantOfShape" in error and "4.0 TB" in error and "limit of 2.0 GB" in error
    assert time.monotonic() - begin < 5
    assert "node 'big'" in run(verb, huge, status=4)[1]


def test_a_limit_that_is_none(huge):
    for wrong in ("2X", "-1", "nan", "0"):
        assert "amount of memory" in run("run", DIGITS, "--random", "--memory", wrong, status=2)[1]
    for wrong in ("-1", "nan"):
        assert "timeout" in run("run", DIGITS, "--random", "--timeout", wrong, status=2)[1]
    run("run", DIGITS, "--random", "--memory", "80%", "--timeout", "1e300")


def test_a_foolish_number_of_threads():
    many = ("run", DIGITS, "--random", "--threads", "100000")
    assert "warn: 100000 threads were asked for" in run(*many)[1]
    assert run(*many, "--quiet")[1] == ""
    assert "warn" not in run(*many, env={"SARDONYX_LOG": "error"})[1]
    assert "threads were asked for" in run(*many[:3], env={"SARDONYX_THREADS": "100000"})[1]


@pytest.mark.parametrize("provider", ["cpu", "reference"])
@pytest.mark.parametrize("threads", [1, 2])
def test_one_long_kernel_stops(product, provider, threads):
    words = ["run", product, "--provider", provider, "--threads", threads]
    assert "deadline" in run(*words, "--timeout", "0.2", status=4)[1]
    process = subprocess.Popen([PROGRAM, *map(str, words)], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    time.sleep(1)
    assert process.poll() is None
    begin = time.monotonic()
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=30)
    assert process.returncode == 130
    assert time.monotonic() - begin < 1
