# SPDX-License-Identifier: Apache-2.0
"""Files that change under a running program, and Ctrl-C: an exit status and nothing left behind, never a signal."""

import os
import pty
import re
import select
import signal
import subprocess
import time

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper
from program import DIGITS, PROGRAM, run

GIGABYTE = 1 << 30


def large(path, size=3 * GIGABYTE // 2, data=None):
    """A model with one tensor of `size` bytes in a sparse data file."""
    data = data or path.with_suffix(".bin")
    tensor = TensorProto(name="w", data_type=TensorProto.UINT8, dims=[size])
    tensor.data_location = TensorProto.EXTERNAL
    for key, value in (("location", data.name), ("offset", "0"), ("length", str(size))):
        tensor.external_data.add(key=key, value=value)
    graph = helper.make_graph(
        [helper.make_node("Identity", ["w"], ["y"])],
        "g",
        [],
        [helper.make_tensor_value_info("y", TensorProto.UINT8, [size])],
        [tensor],
    )
    path.write_bytes(helper.make_model(graph).SerializeToString())
    with data.open("wb") as file:
        file.truncate(size)
    return path


def until(condition, seconds=20):
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "it never happened"
        time.sleep(0.002)


def touches(process, kilobytes):
    """The process has this much of its mapped files in memory."""

    def check():
        assert process.poll() is None, process.stderr.read()
        try:
            status = open(f"/proc/{process.pid}/status").read()
        except OSError:
            return False
        found = re.search(r"RssFile:\s+(\d+)", status)
        return bool(found) and int(found[1]) > kilobytes

    return check


def start(*words, **more):
    return subprocess.Popen([PROGRAM, *map(str, words)], stderr=subprocess.PIPE, text=True, **more)


@pytest.mark.parametrize("verb", [["tensors", "--statistics"], ["external", "--verify"]])
def test_a_file_cut_while_it_is_read(tmp_path, verb):
    path = large(tmp_path / "m.onnx")
    model = onnx.load(path, load_external_data=False)
    model.graph.initializer[0].external_data.add(key="checksum", value="0" * 40)
    path.write_bytes(model.SerializeToString())
    process = start(verb[0], path, *verb[1:], stdout=subprocess.DEVNULL)
    until(touches(process, 150_000))
    os.truncate(path.with_suffix(".bin"), 4096)
    error = process.communicate(timeout=30)[1]
    assert process.returncode == 3, error
    assert f"{path.with_suffix('.bin')}: the file became shorter while it was being read" in error


def filled(path, megabytes):
    """Real bytes instead of a hole, which would be copied at once."""
    with path.open("r+b") as file:
        for _ in range(megabytes):
            file.write(b"x" * (1 << 20))


def cut_while_copied(folder):
    """False if the copy was done before it was disturbed."""
    folder.mkdir()
    path = large(folder / "m.onnx", size=512 << 20)
    data, out = path.with_suffix(".bin"), folder / "out"
    filled(data, 512)
    out.mkdir()
    process = start("external", path, "--inside", "-o", out / "m.onnx")
    until(lambda: process.poll() is not None or str(data) in open(f"/proc/{process.pid}/maps").read())
    os.truncate(data, 1 << 16)
    error = process.communicate(timeout=60)[1]
    if process.returncode == 0:
        return False
    assert process.returncode == 3 and str(data) in error, (process.returncode, error)
    assert os.listdir(out) == []
    return True


def test_a_file_cut_while_it_is_copied(tmp_path):
    """However the copy notices: by a missing page, by an early end, or by the file's time."""
    assert any(cut_while_copied(tmp_path / str(attempt)) for attempt in range(5))


@pytest.fixture
def slow(tmp_path):
    """A model whose statistics take long."""
    return large(tmp_path / "m.onnx", size=8 * GIGABYTE)


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_an_interrupt_ends_at_once(slow, how):
    process = start("tensors", slow, "--statistics", stdout=subprocess.DEVNULL)
    until(touches(process, 100_000))
    begin = time.monotonic()
    process.send_signal(how)
    error = process.communicate(timeout=30)[1]
    assert (process.returncode, error) == (130, "") and time.monotonic() - begin < 5


def interrupted_while_copying(folder):
    """False if the copy was done before it was interrupted."""
    folder.mkdir()
    path = large(folder / "m.onnx", size=GIGABYTE)
    filled(path.with_suffix(".bin"), 512)
    out = folder / "out"
    out.mkdir()
    process = start("copy", path, "-o", out / "m.onnx")

    def writing():
        fds = f"/proc/{process.pid}/fd"
        return process.poll() is not None or any(
            str(out) in os.path.realpath(f"{fds}/{fd}") for fd in os.listdir(fds)
        )

    until(writing)
    process.send_signal(signal.SIGINT)
    if process.wait(timeout=30) == 0:
        return False
    assert process.returncode == 130
    assert os.listdir(out) == []
    return True


def test_an_interrupted_copy_leaves_nothing(tmp_path):
    assert any(interrupted_while_copying(tmp_path / str(attempt)) for attempt in range(5))


def test_an_interrupted_bench():
    """A bench tells what it has measured so far."""
    process = start("bench", DIGITS, "--seconds", "60", stdout=subprocess.PIPE)
    time.sleep(2)
    process.send_signal(signal.SIGINT)
    out, error = process.communicate(timeout=30)
    assert (process.returncode, error) == (130, "") and "median run" in out


def on_a_terminal(*words, seconds=30):
    """What a terminal of 80 columns shows."""
    main, side = pty.openpty()
    os.set_blocking(main, False)
    process = subprocess.Popen(
        [PROGRAM, *map(str, words)], stdout=side, stderr=side, stdin=side, env={**os.environ, "TERM": "xterm"}
    )
    os.close(side)
    shown, end = b"", time.monotonic() + seconds
    while time.monotonic() < end:
        if select.select([main], [], [], 0.1)[0]:
            try:
                part = os.read(main, 65536)
            except OSError:
                break
            if not part:
                break
            shown += part
        elif process.poll() is not None:
            break
    os.close(main)
    assert process.wait(timeout=10) == 0, shown
    return shown.decode()


def test_progress_only_on_a_terminal(tmp_path):
    path = large(tmp_path / "m.onnx", size=GIGABYTE // 4)
    shown = on_a_terminal("tensors", path, "--statistics")
    assert "\r\x1b[Kreading the tensors of " in shown
    assert shown.index("\r\x1b[K", shown.index("reading")) < shown.index("mean")
    quiet = on_a_terminal("tensors", path, "--statistics", "--quiet")
    assert "reading" not in quiet
    assert run("tensors", path, "--statistics")[1] == ""


def test_sparse_data_stays_sparse(tmp_path):
    path = large(tmp_path / "m.onnx", size=4 * GIGABYTE)
    with path.with_suffix(".bin").open("r+b") as file:
        file.seek(GIGABYTE)
        file.write(b"middle")
    (tmp_path / "out").mkdir()
    run("copy", path, "-o", tmp_path / "out/m.onnx")
    copy = tmp_path / "out/m.bin"
    assert copy.stat().st_size == 4 * GIGABYTE and copy.stat().st_blocks * 512 < 256 << 20
    data = np.memmap(copy, np.uint8, "r")
    assert bytes(data[GIGABYTE : GIGABYTE + 6]) == b"middle" and data[-1] == 0
    run("external", path, "--inside", "-o", tmp_path / "one.onnx")
    run("copy", tmp_path / "one.onnx", "-o", tmp_path / "out/one.onnx", "--one-file")
    assert (tmp_path / "out/one.onnx").stat().st_size == (tmp_path / "one.onnx").stat().st_size > 4 * GIGABYTE
