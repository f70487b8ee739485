# SPDX-License-Identifier: Apache-2.0
"""No provider is named below the doors: src/ and include/ know the interface, never who implements it."""

import re
from pathlib import Path

from common import run, source_files, without_comments

NAMES = ("cpu", "reference", "dnnl", "cuda", "toy")
CAMEL = "|".join(name.capitalize() for name in NAMES) + "|CPU|CUDA|DNNL"
PATTERN = re.compile(
    r'"(?:' + "|".join(NAMES) + r')"'  # a literal that is just the name
    r"|\b(?:" + CAMEL + r")(?:ExecutionProvider|Provider|Plugin)\w*"
    r"|\b(?:\w*_)?(?:" + "|".join(NAMES) + r")_(?:provider|plugin)\w*"
    r'|#\s*include\s*"providers/[^"]*"'
)


def problems(root: Path) -> list[str]:
    found = []
    for path in source_files(root, ("src", "include")):
        for number, line in enumerate(without_comments(path.read_text()).splitlines(), 1):
            for match in PATTERN.finditer(line):
                found.append(f"{path.relative_to(root)}:{number}: names a provider: {match.group(0)}")
    return found


if __name__ == "__main__":
    run("provider_names", problems)
