# SPDX-License-Identifier: Apache-2.0
"""The program under test, and a small model for it."""

import os
import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PROGRAM = Path(os.environ.get("SARDONYX", ROOT / "build/sardonyx"))
DIGITS = ROOT / "models/digits/digits.onnx"


def run(*words, status=0, **more):
    """Standard output and standard error; the exit status must be `status`."""
    more.setdefault("timeout", 60)
    done = subprocess.run([PROGRAM, *map(str, words)], capture_output=True, text=True, **more)
    assert done.returncode == status, (done.returncode, done.stdout[-500:], done.stderr)
    return done.stdout, done.stderr
