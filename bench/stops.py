# SPDX-License-Identifier: Apache-2.0
"""How soon a run ends that is stopped in the middle of one long kernel: each of tests/python/long_kernels.py.

python bench/stops.py [--times 9] [--threads 1,2] [--providers cpu,reference] [--only TEXT] [--json]
Milliseconds, median and longest of several stops at different moments of the run; slowest first.
"""

import argparse
import json
import statistics
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tests" / "python"))

import long_kernels  # noqa: E402

PROMPT = 100  # milliseconds


def measure(name: str, provider: str, threads: int, times: int) -> dict:
    model, feed = long_kernels.long_model(name)
    session = long_kernels.session_of(model, provider, threads)
    delays = [0.05 + 0.4 * k / times for k in range(times)]
    took = [
        1e3 * long_kernels.stopped_after(session, feed, lambda o: setattr(o, "terminate", True), delay)
        for delay in delays
    ]
    return {
        "kernel": name,
        "provider": provider,
        "threads": threads,
        "median": statistics.median(took),
        "longest": max(took),
    }


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--times", type=int, default=9)
    parser.add_argument("--threads", default="1,2")
    parser.add_argument("--providers", default="cpu,reference")
    parser.add_argument("--only", default="", help="kernels whose name holds this")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    rows = []
    for name in long_kernels.NAMES:
        if options.only.lower() not in name.lower():
            continue
        for provider in options.providers.split(","):
            for threads in map(int, options.threads.split(",")):
                rows.append(measure(name, provider, threads, options.times))
                if sys.stderr.isatty():
                    print(f"\r{len(rows)} {name:40}", end="", file=sys.stderr, flush=True)
    rows.sort(key=lambda row: -row["longest"])
    if options.json:
        print(json.dumps(rows, indent=2))
    else:
        print(f"\n{'kernel':28} {'provider':10} {'threads':>7} {'median ms':>10} {'longest ms':>10}")
        for r in rows:
            late = "  late" if r["longest"] > PROMPT else ""
            print(
                f"{r['kernel']:28} {r['provider']:10} {r['threads']:7} {r['median']:10.1f} {r['longest']:10.1f}{late}"
            )
    return 1 if any(r["longest"] > PROMPT for r in rows) else 0


if __name__ == "__main__":
    sys.exit(main())
