# SPDX-License-Identifier: Apache-2.0
"""Every public header compiles alone: .h as C99 and as C++17, .hpp as C++17; only the standard library beside them."""

import subprocess
from pathlib import Path

from common import run, source_files

WARNINGS = ["-Wall", "-Wextra", "-Wpedantic", "-Werror", "-fsyntax-only"]


def problems(root: Path) -> list[str]:
    found = []
    for path in source_files(root, ("include",), (".h", ".hpp")):
        languages = [("c++", "c++17")] if path.suffix == ".hpp" else [("c", "c99"), ("c++", "c++17")]
        for language, standard in languages:
            line = f'#include "{path.relative_to(root / "include")}"\n'
            command = ["g++" if language == "c++" else "gcc", "-x", language, f"-std={standard}"]
            command += [*WARNINGS, "-I", str(root / "include"), "-"]
            result = subprocess.run(command, input=line, capture_output=True, text=True)
            if result.returncode != 0:
                found.append(
                    f"{path.relative_to(root)} does not compile alone as {standard}:\n{result.stderr}"
                )
    return found


if __name__ == "__main__":
    run("public_headers", problems)
