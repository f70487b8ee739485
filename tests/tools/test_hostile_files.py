# SPDX-License-Identifier: Apache-2.0
"""The hostile files of tests/onnx, and broken copies of a good model, through the program itself: an answer or an
error that names the file, never a signal, never a control character on the terminal."""

import random
import subprocess
import sys

import pytest
from program import DIGITS, PROGRAM, ROOT

sys.path.append(str(ROOT / "tests/onnx"))
import hostile

VERBS = {
    "info": ["info"],
    "tensors": ["tensors", "--statistics"],
    "text": ["text", "--largest", "4"],
    "external": ["external", "--verify"],
}


def answer(words, path):
    done = subprocess.run([PROGRAM, words[0], path, *words[1:]], capture_output=True, timeout=60)
    assert done.returncode in (0, 1, 3), (path.name, done.returncode, done.stderr[-500:])
    assert (done.returncode == 3) == done.stderr.startswith(b"error: "), (path.name, done.stderr)
    for text in (done.stdout, done.stderr):
        assert not any(c < 32 and c not in (9, 10) for c in text), path.name
    return done


@pytest.fixture(scope="module")
def folders(tmp_path_factory):
    """A folder for each case; its first file is the one to open."""
    made = {}
    for number, (name, (_, files, _)) in enumerate(hostile.CASES.items()):
        folder = tmp_path_factory.mktemp(f"case{number}")
        for file, content in files.items():
            if isinstance(content, bytes):
                (folder / file).write_bytes(content)
            else:
                content(folder / file)
        made[name] = folder / next(iter(files))
    return made


@pytest.mark.parametrize("verb", VERBS)
def test_hostile_files(folders, verb):
    for path in folders.values():
        answer(VERBS[verb], path)


def test_broken_copies(tmp_path):
    """Bytes changed and ends cut off: what still reads as a model goes through shape inference in info."""
    good, dice, path = DIGITS.read_bytes(), random.Random(7), tmp_path / "m.onnx"
    head = good.index(b"conv1.weight") + 4000  # nodes and the first tensors; later bytes are weights
    for round_ in range(300):
        data = bytearray(good)
        for _ in range(dice.randint(1, 4)):
            data[dice.randrange(head if round_ % 4 else len(data))] = dice.randrange(256)
        if round_ % 10 == 0:
            del data[dice.randrange(len(data)) :]
        path.write_bytes(data)
        answer(["info"], path)
