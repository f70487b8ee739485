# SPDX-License-Identifier: Apache-2.0
"""An object compiled for a vector level defines no symbol outside its own namespace sx::LEVEL.

The linker keeps one copy of an inline function; if that copy came from an AVX-512 object, older machines crash.
"""

import re
import subprocess
from pathlib import Path

from common import run

# The two ways a source is compiled for a level: sx_simd (one object library a level) and NAME.LEVEL.cc.
SIMD = re.compile(r"_simd_cc_(\w+)\.dir/")
HAND = re.compile(r"\.(sse4|avx2|avx512\w*|amx|neon|sve)\.cc\.o$")


def level_of(path: str) -> str | None:
    match = SIMD.search(path) or HAND.search(path)
    return match.group(1) if match else None


def symbols(path: Path) -> list[tuple[str, str]]:
    """Kind and mangled name of each symbol that other objects can see."""
    listing = subprocess.run(
        ["nm", "--defined-only", "-g", str(path)], capture_output=True, text=True, check=True
    )
    return [tuple(line.split()[-2:]) for line in listing.stdout.splitlines() if line]


def outside(level: str, name: str) -> bool:
    # Mangled: _ZN2sx4avx2…, with qualifiers (K), static locals (Z) and tables (TV, GV) before it.
    return not re.match(rf"_Z[A-Z]*2sx{len(level)}{level}(?![a-z])", name)


def problems(root: Path, build: str) -> list[str]:
    found = []
    folder = root / build
    objects = [(path, level) for path in sorted(folder.rglob("*.o")) if (level := level_of(str(path)))]
    for path, level in objects:
        for kind, name in symbols(path):
            if outside(level, name):
                found.append(f"{path.relative_to(folder)} defines {name} ({kind}) outside sx::{level}")
    print(f"isa_symbols: {len(objects)} objects")
    return found


if __name__ == "__main__":
    run("isa_symbols", problems, build="build/release")
