# SPDX-License-Identifier: Apache-2.0
"""Warns of files over 400 lines and fails on files over 800."""

from pathlib import Path

from common import CODE, FOLDERS, run, source_files

WARN_OVER = 400
FAIL_OVER = 800


def problems(root: Path) -> list[str]:
    found = []
    for path in source_files(root, (*FOLDERS, "scripts", "cmake", "models"), (*CODE, ".py", ".cmake", ".sh")):
        lines = len(path.read_text().splitlines())
        if lines > FAIL_OVER:
            found.append(f"{path.relative_to(root)} has {lines} lines, {FAIL_OVER} at most")
        elif lines > WARN_OVER:
            print(f"file_length: warning: {path.relative_to(root)} has {lines} lines")
    return found


if __name__ == "__main__":
    run("file_length", problems)
