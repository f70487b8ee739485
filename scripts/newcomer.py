# SPDX-License-Identifier: Apache-2.0
"""What a newcomer sees on a terminal of 80 columns, for the README.

python scripts/newcomer.py [--check]: writes the block between the README's two marks again, or says whether it is as
the program is now. Needs a built program (build/sardonyx, or $SARDONYX).
"""

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PROGRAM = Path(os.environ.get("SARDONYX", ROOT / "build/sardonyx"))
BEGIN, END = "<!-- made by scripts/newcomer.py -->", "<!-- end -->"
COMMANDS = [
    "sardonyx",
    "sardonyx inof digits.onnx",
    "sardonyx info digit.onnx",
    "sardonyx info digits.onnx --joson",
    "sardonyx run half_a_download.onnx",
]


def terminal() -> str:
    """The commands and what they say, in a folder with a model and half of it."""
    environment = {**os.environ, "COLUMNS": "80", "NO_COLOR": "1"}
    shown = []
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        (folder / "bin").mkdir()
        (folder / "bin/sardonyx").symlink_to(PROGRAM.resolve())
        environment["PATH"] = f"{folder / 'bin'}:{os.environ['PATH']}"
        model = folder / "digits.onnx"
        shutil.copy(ROOT / "models/digits/digits.onnx", model)
        (folder / "half_a_download.onnx").write_bytes(model.read_bytes()[: model.stat().st_size // 2])
        for command in COMMANDS:
            done = subprocess.run(
                command,
                shell=True,
                cwd=folder,
                env=environment,
                text=True,
                stdout=-1,
                stderr=subprocess.STDOUT,
            )
            shown.append(f"$ {command}\n{done.stdout}".rstrip())
    return "```console\n" + "\n\n".join(shown) + "\n```"


def main() -> int:
    readme = ROOT / "README.md"
    text = readme.read_text()
    before, rest = text.split(BEGIN, 1)
    old, after = rest.split(END, 1)
    new = f"\n{terminal()}\n"
    if "--check" in sys.argv[1:]:
        if old != new:
            print(
                "README.md shows another program than this one: python scripts/newcomer.py", file=sys.stderr
            )
        return int(old != new)
    readme.write_text(before + BEGIN + new + END + after)
    return 0


if __name__ == "__main__":
    sys.exit(main())
