# SPDX-License-Identifier: Apache-2.0
"""clang-tidy over our sources with all cores; what passed once is not looked at again until it or a header changes.
Where the build folder compiles files in batches, a batch is read as one.

python scripts/tidy.py BUILD_FOLDER [PATH_PART ...]: only files whose path has one of the parts.
"""

import hashlib
import json
import os
import re
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
FOLDERS = ("src", "providers", "tools", "python")
TIDY = "clang-tidy-14"


def headers_digest() -> bytes:
    digest = hashlib.sha256((ROOT / ".clang-tidy").read_bytes())
    for folder in (*FOLDERS, "include"):
        for path in sorted((ROOT / folder).rglob("*.h*")):
            digest.update(path.read_bytes())
    return digest.digest()


def sources(unit: Path, build: Path) -> list[Path]:
    """The files that a unit consists of: those that a batch in the build folder names, or the unit itself."""
    if not unit.is_relative_to(build):
        return [unit]
    return [Path(name) for name in re.findall(r'^#include "(.+\.cc)"$', unit.read_text(), re.MULTILINE)]


def units(build: Path, parts: list[str]) -> dict[Path, str]:
    """Unit → compile command; a file that is compiled for several vector levels is looked at once."""
    found = {}
    for entry in json.loads((build / "compile_commands.json").read_text()):
        path = Path(entry["directory"], entry["file"]).resolve()
        files = sources(path, build)
        if not any(f.is_relative_to(ROOT) and f.relative_to(ROOT).parts[0] in FOLDERS for f in files):
            continue
        if parts and not any(part in str(f) for part in parts for f in files):
            continue
        found.setdefault(path, entry["command"])
    return found


def main() -> int:
    build = Path(sys.argv[1]).resolve()
    known = headers_digest()
    passed = build / "tidy"
    passed.mkdir(exist_ok=True)

    def look(item: tuple[Path, str]) -> str:
        path, command = item
        files = sources(path, build)
        texts = b"".join(file.read_bytes() for file in files)
        key = hashlib.sha256(known + command.encode() + texts).hexdigest()
        if (passed / key).exists():
            return ""
        result = subprocess.run(
            [TIDY, "--quiet", "--header-filter", f"{ROOT}/.*", "-p", str(build), str(path)],
            capture_output=True,
            text=True,
        )
        if result.returncode == 0:
            (passed / key).touch()
            return ""
        errors = [
            line for line in result.stderr.splitlines() if "error:" in line
        ]  # e.g. a file that does not parse
        return result.stdout or "\n".join(errors) or f"{path}: clang-tidy ended with {result.returncode}"

    todo = units(build, sys.argv[2:])
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        reports = [report for report in pool.map(look, todo.items()) if report]
    for report in reports:
        print(report)
    count = sum(len(sources(path, build)) for path in todo)
    print(f"clang-tidy: {count} files in {len(todo)} units, {len(reports)} with problems")
    return 1 if reports or not todo else 0


if __name__ == "__main__":
    sys.exit(main())
