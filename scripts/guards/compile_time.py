# SPDX-License-Identifier: Apache-2.0
"""Lists translation units over 12 s of CPU time and fails on those over 30 s.

scripts/compile.sh notes user and system seconds of each real compilation; what came out of ccache is not in there.
"""

from pathlib import Path

from common import run

LIST_OVER = 12.0
FAIL_OVER = 30.0


def newest(log: Path) -> dict[str, float]:
    """CPU seconds of the slowest compilation of each source in its newest round of levels."""
    times: dict[str, list[float]] = {}
    for line in log.read_text().splitlines():
        user, system, source = line.split(maxsplit=2)
        times.setdefault(source, []).append(float(user) + float(system))
    # A .simd.cc is compiled once a level: the last three are one round at most.
    return {
        source: max(seconds[-3:]) if ".simd." in source else seconds[-1] for source, seconds in times.items()
    }


def problems(root: Path, build: str) -> list[str]:
    log = root / build / "compile_times.txt"
    if not log.exists():
        print(f"compile_time: nothing was compiled in {build} (all of it came out of the cache)")
        return []
    times = newest(log)
    for source, seconds in sorted(times.items(), key=lambda item: -item[1]):
        if seconds > LIST_OVER:
            print(f"compile_time: {seconds:5.1f} s  {source}")
    print(f"compile_time: {len(times)} units measured, {sum(times.values()):.0f} s of CPU time")
    return [
        f"{source} took {seconds:.1f} s, {FAIL_OVER:.0f} s at most: split it, or hide its templates"
        for source, seconds in times.items()
        if seconds > FAIL_OVER
    ]


if __name__ == "__main__":
    run("compile_time", problems, build="build/release")
