# SPDX-License-Identifier: Apache-2.0
"""What the guards share: walking our sources, dropping comments, reporting."""

import argparse
import re
import sys
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

CODE = (".cc", ".h", ".hpp", ".c")
FOLDERS = ("src", "include", "providers", "tools", "python", "tests", "bench")

# A string or character literal (kept), or a comment (dropped).
_TOKEN = re.compile(r'"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])+\'|//[^\n]*|/\*.*?\*/', re.DOTALL)


def source_files(
    root: Path, folders: Iterable[str] = FOLDERS, suffixes: tuple[str, ...] = CODE
) -> Iterator[Path]:
    for folder in folders:
        for path in sorted((root / folder).rglob("*")):
            if path.suffix in suffixes and path.is_file():
                yield path


def without_comments(text: str) -> str:
    """The same text with every comment blank and every line where it was."""

    def blank(match: re.Match) -> str:
        token = match.group(0)
        return token if token[0] in "\"'" else "\n" * token.count("\n")

    return _TOKEN.sub(blank, text)


def run(name: str, problems: Callable[..., list[str]], **options: str) -> None:
    """Command line of a guard: prints what `problems` found below --root and exits with 1 if anything."""
    parser = argparse.ArgumentParser(prog=name)
    parser.add_argument("--root", type=Path, default=Path(__file__).resolve().parents[2])
    for option, default in options.items():
        parser.add_argument(f"--{option}", default=default)
    args = vars(parser.parse_args())
    found = problems(**args)
    for line in found:
        print(f"{name}: {line}", file=sys.stderr)
    print(f"{name}: " + (f"{len(found)} problem(s)" if found else "ok"))
    sys.exit(1 if found else 0)
