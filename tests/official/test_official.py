# SPDX-License-Identifier: Apache-2.0
"""Every official node case whose operators are all present, by the operators' own evaluation."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
BUILD = Path(os.environ.get("SX_BUILD", ROOT / "build/release"))
PROGRAM = BUILD / "tests/convert/sx_eval_case"
CASES = Path(os.environ.get("SX_OFFICIAL", ROOT / "build/official"))


def skips() -> dict[str, str]:
    lines = (Path(__file__).parent / "skips.txt").read_text().splitlines()
    return dict(line.split(maxsplit=1) for line in lines if line and not line.startswith("#"))


def results() -> dict[str, list[str]]:
    """pass, FAIL and unsupported → the lines that say so."""
    if not PROGRAM.exists():
        pytest.skip(f"{PROGRAM} is not built")
    if not CASES.exists():
        subprocess.run([sys.executable, ROOT / "tests/official/generate.py", "--out", CASES], check=True)
    done = subprocess.run([PROGRAM, CASES], capture_output=True, text=True, check=False)
    assert done.returncode in (0, 1), done.stderr
    found: dict[str, list[str]] = {"pass": [], "FAIL": [], "unsupported": []}
    for line in done.stdout.splitlines():
        kind, _, rest = line.partition(" ")
        if kind in found:
            found[kind].append(rest)
    return found


def test_official_cases():
    found, known = results(), skips()
    print({kind: len(lines) for kind, lines in found.items()}, f"of which {len(known)} known failures")
    failed = {line.split(":")[0]: line for line in found["FAIL"]}
    assert not (wrong := [line for name, line in failed.items() if name not in known]), "\n".join(wrong)
    firm = [name for name, reason in known.items() if not reason.startswith("random")]
    assert not (right := [name for name in firm if name in found["pass"]]), f"pass, but are skipped: {right}"
    assert len(found["pass"]) > 1500
