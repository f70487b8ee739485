# SPDX-License-Identifier: Apache-2.0
"""The hostile models through the program: a result or an error, within two seconds of processor time and 500 MB, never
a signal, never a control character on the terminal."""

import os
from pathlib import Path

import pytest
from hostile_models import CASES

PROGRAM = Path(os.environ.get("SARDONYX", Path(__file__).resolve().parents[2] / "build/sardonyx"))
SLOWER = 10 if os.environ.get("SARDONYX_SANITIZED") else 1
VERBS = {"info": [], "explain": [], "run": ["--random", "--timeout", "0.5", "--memory", "400M"]}


def complaint(words, folder, worker):
    """What is wrong with the program's answer, or nothing."""
    out, err = folder / "out.txt", folder / "err.txt"
    answer = worker({"words": [str(word) for word in [PROGRAM, *words]], "out": str(out), "err": str(err)})
    verb, status, printed, said = words[0], answer["what"], out.read_bytes(), err.read_bytes()
    if status not in (0, 1, 2, 3, 4):
        return f"{verb}: exit status {status}, {said[-300:]}"
    if status != 0 and not said.startswith(b"error: "):
        return f"{verb}: exit status {status} without an error: {said[-300:]}"
    if answer["cpu"] > 2 * SLOWER:
        return f"{verb}: {answer['cpu']:.1f} s"
    if answer["megabytes"] > 500 and SLOWER == 1:
        return f"{verb}: {answer['megabytes']} MB"
    if any(c < 32 and c not in (9, 10) for c in printed + said):
        return f"{verb}: control characters"
    return None


@pytest.mark.parametrize("name", CASES)
def test_hostile_program(name, worker, tmp_path):
    path = tmp_path / "model.onnx"
    path.write_bytes(CASES[name].model)
    wrong = [
        found for verb, more in VERBS.items() if (found := complaint([verb, path, *more], tmp_path, worker))
    ]
    assert not wrong, "\n".join(wrong)
