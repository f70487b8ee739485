# SPDX-License-Identifier: Apache-2.0
"""The terminal text in the README is what the program says."""

import subprocess
import sys

from program import ROOT


def test_newcomers_view():
    done = subprocess.run(
        [sys.executable, ROOT / "scripts/newcomer.py", "--check"], capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
