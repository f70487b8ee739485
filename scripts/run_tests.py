# SPDX-License-Identifier: Apache-2.0
"""Runs what `make test` runs: the unit tests (ctest), the Python tests, then the program and the matrix of errors over
the stand-in models.

Ends with 'N passed, N failed'; the program's run and the matrix count as one each.
"""

import os
import subprocess
import sys
import time
import xml.etree.ElementTree as ElementTree
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
REPORTS = ROOT / "build" / "reports"
CORES = str(os.cpu_count() or 1)


def counts(report: Path) -> tuple[int, int, int]:
    """Passed, failed and skipped tests of a JUnit file."""
    passed = failed = skipped = 0
    for case in ElementTree.parse(report).getroot().iter("testcase"):
        kinds = {child.tag for child in case}
        if kinds & {"failure", "error"}:
            failed += 1
        elif "skipped" in kinds or case.get("status") == "disabled":
            skipped += 1
        else:
            passed += 1
    return passed, failed, skipped


def suites() -> list[tuple[str, list[str], Path | None]]:
    """Name, command, and the JUnit file it writes, if it writes one."""
    ctest, pytest = REPORTS / "ctest.xml", REPORTS / "pytest.xml"
    return [
        (
            "unit tests",
            ["ctest", "--test-dir", "build/release", "-j", CORES, "--output-on-failure", "--no-tests=error"]
            + ["--output-junit", str(ctest)],
            ctest,
        ),
        ("python tests", [sys.executable, "-m", "pytest", f"--junitxml={pytest}"], pytest),
        ("models", ["build/sardonyx", "test", "build/test_models", "models/digits"], None),
        ("matrix", [sys.executable, "tests/matrix.py"], None),
    ]


def main() -> int:
    REPORTS.mkdir(parents=True, exist_ok=True)
    total = [0, 0, 0]
    broken = False
    for name, command, report in suites():
        if report:
            report.unlink(missing_ok=True)
        start = time.monotonic()
        try:
            status = subprocess.run(command, cwd=ROOT).returncode
        except FileNotFoundError:
            status = 127
            print(f"{name}: there is no {command[0]}")
        took = time.monotonic() - start
        if report:
            found = counts(report) if report.exists() else (0, 0, 0)
        else:
            found = (int(status == 0), int(status != 0), 0)
        total = [a + b for a, b in zip(total, found, strict=True)]
        broken |= status != 0
        print(f"{name}: {found[0]} passed, {found[1]} failed, {found[2]} skipped in {took:.1f} s", flush=True)
        if status == 0 and found[0] == 0:
            print(f"{name}: no test ran", flush=True)
            total[1], broken = total[1] + 1, True
        if status != 0 and found[1] == 0:
            print(f"{name}: ended with status {status} without a failed test", flush=True)
            total[1] += 1
    print(f"{total[0]} passed, {total[1]} failed" + (f", {total[2]} skipped" if total[2] else ""))
    return 1 if broken or total[1] else 0


if __name__ == "__main__":
    sys.exit(main())
