# SPDX-License-Identifier: Apache-2.0
"""There are few private operators: at most 15 records of domain "sx" in src/ops ("sx.legacy" is not counted)."""

import re
from pathlib import Path

from common import run, source_files, without_comments

AT_MOST = 15
RECORD = re.compile(r'\.domain\s*=\s*(?:"sx"|kSxDomain\b|kPrivateDomain\b)')


def problems(root: Path) -> list[str]:
    where = []
    for path in source_files(root, ("src/ops",)):
        count = len(RECORD.findall(without_comments(path.read_text())))
        where += [str(path.relative_to(root))] * count
    print(f"private_operators: {len(where)} of at most {AT_MOST}")
    if len(where) <= AT_MOST:
        return []
    return [f"{len(where)} private operators, at most {AT_MOST}: {', '.join(where)}"]


if __name__ == "__main__":
    run("private_operators", problems)
