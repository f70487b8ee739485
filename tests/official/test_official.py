# SPDX-License-Identifier: Apache-2.0
"""Every official node case of the onnx package whose operators are all present, on each provider and vector level."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PROGRAM = Path(os.environ.get("SARDONYX", ROOT / "build/sardonyx"))
CASES = Path(os.environ.get("SX_OFFICIAL", ROOT / "build/official"))
# Of the onnx version that requirements pin. Who adds operators raises the second; neither ever shrinks.
CASES_THERE_ARE, CASES_THAT_PASS = 1884, 1710
# SX_OFFICIAL_WAYS names others, as in "cpu;cpu --no-rules".
WAYS = os.environ.get("SX_OFFICIAL_WAYS", "reference;cpu;cpu baseline;cpu avx2;cpu --no-rules").split(";")


def skips() -> dict[str, str]:
    lines = (Path(__file__).parent / "skips.txt").read_text().splitlines()
    return dict(line.split(maxsplit=1) for line in lines if line and not line.startswith("#"))


@pytest.fixture(scope="module")
def cases() -> Path:
    if not CASES.exists():
        subprocess.run([sys.executable, ROOT / "tests/official/generate.py", "--out", CASES], check=True)
    return CASES


@pytest.mark.parametrize("how", WAYS)
def test_official_cases(cases, how):
    provider, *level = how.split()
    command = [
        PROGRAM,
        "test",
        cases,
        "--json",
        "--threads",
        "2",
        "--of-largest",
        "0",
        "--provider",
        provider,
    ]
    command += level if "--no-rules" in level else [x for one in level for x in ("--isa", one)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode == 2 and "this processor has" in done.stderr:
        pytest.skip(done.stderr.strip())
    assert done.returncode in (0, 1), done.stderr
    found, known = json.loads(done.stdout)["cases"], skips()
    passed = {c["case"] for c in found if c["passed"]}
    absent = {c["case"] for c in found if c["unsupported"]}
    wrong = {c["case"]: c["why"] for c in found if c["case"] not in passed | absent | known.keys()}
    print(f"{how}: {len(passed)} of {len(found)} cases pass, {len(absent)} need operators that are not here")
    assert not wrong, "\n".join(f"{name}: {why}" for name, why in wrong.items())
    firm = {name for name, reason in known.items() if not reason.startswith("random")}
    assert not passed & firm, f"pass, but are on the list of known failures: {sorted(passed & firm)}"
    assert len(found) >= CASES_THERE_ARE
    assert len(passed) >= CASES_THAT_PASS
