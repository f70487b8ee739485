# SPDX-License-Identifier: Apache-2.0
"""Every model of some folders beside onnxruntime: load, first run, steady run, memory, difference. Worst rows first.

python bench/every_model.py FOLDER|MODEL ... [--threads 1] [--seconds 0.5] [--repetitions 3] [--json]
Each engine gets a fresh process for each measurement, in turns; the table shows medians. An outlier is a row where a
first run takes more than twice a steady one (and more than 2 ms longer), a load is slower than onnxruntime's, a
result differs, or one of the two engines fails.
"""

import argparse
import json
import pickle
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "bench"))

import cases  # noqa: E402

ENGINES = ("sardonyx", "onnxruntime")
TIMEOUT = 300
LARGE = 20e6  # bytes of a file whose loading should be five times faster
NOISE = 2e-3  # seconds that a first run may take longer without being an outlier


def measure_in_fresh_process(engine: str, case: cases.Case, options, folder: Path) -> dict:
    feed, results = folder / "feed.pickle", folder / f"{engine}.pickle"
    command = [
        sys.executable,
        str(ROOT / "bench" / "fresh_process.py"),
        engine,
        str(case.model),
        str(options.threads),
    ]
    command += [str(feed), str(options.seconds), str(results)]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=TIMEOUT)
    except subprocess.TimeoutExpired:
        return {"failed": f"more than {TIMEOUT} s"}
    if done.returncode != 0:
        lines = done.stderr.strip().splitlines() or [f"ended with {done.returncode}"]
        return {"failed": lines[-1][:160]}
    return json.loads(done.stdout.splitlines()[-1])


def difference(one: list, other: list) -> float:
    """The largest difference relative to the largest magnitude of an output; infinity where shapes differ."""
    worst = 0.0
    for a, b in zip(one, other, strict=True):
        if not isinstance(b, np.ndarray) or b.dtype.kind not in "fiub":
            worst = worst if np.array_equal(np.asarray(a, object), np.asarray(b, object)) else np.inf
            continue
        if np.shape(a) != np.shape(b):
            return float("inf")
        if b.size == 0:
            continue
        wide_a, wide_b = np.asarray(a, np.float64), b.astype(np.float64)
        scale = max(1e-30, float(np.nanmax(np.abs(wide_b))))
        gap = np.where(wide_a == wide_b, 0, np.abs(wide_a - wide_b))
        worst = max(worst, float(np.nanmax(np.where(np.isnan(wide_a) & np.isnan(wide_b), 0, gap))) / scale)
    return worst


def warm(path: Path) -> None:
    """Reads the file once, so that the first engine does not pay for the disk."""
    with path.open("rb") as file:
        while file.read(1 << 24):
            pass


def measure(case: cases.Case, options) -> dict:
    warm(case.model)
    row: dict = {"name": case.name, "bytes": case.model.stat().st_size}
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "feed.pickle").write_bytes(pickle.dumps(case.feeds[0]))
        runs: dict[str, list[dict]] = {engine: [] for engine in ENGINES}
        for _ in range(options.repetitions):
            for engine in ENGINES:
                if not any("failed" in run for run in runs[engine]):
                    runs[engine].append(measure_in_fresh_process(engine, case, options, folder))
        for engine, done in runs.items():
            failed = [run for run in done if "failed" in run]
            row[engine] = failed[0] if failed else {k: statistics.median(r[k] for r in done) for k in done[0]}
        files = [folder / f"{engine}.pickle" for engine in ENGINES]
        if all(file.exists() for file in files):
            row["difference"] = difference(*[pickle.loads(file.read_bytes()) for file in files])
    return row


def outliers(row: dict) -> list[str]:
    ours, theirs = row["sardonyx"], row["onnxruntime"]
    if "failed" in ours:
        return ["failed"]
    found = []
    if ours["first"] > 2 * ours["steady"] and ours["first"] - ours["steady"] > NOISE:
        found.append("first run")
    if "failed" not in theirs:
        if ours["load"] > theirs["load"] / (5 if row["bytes"] > LARGE else 1):
            found.append("load")
        if not row.get("difference", 0) < 1e-3:
            found.append("difference")
    return found


def text_of(row: dict) -> str:
    ours, theirs = row["sardonyx"], row["onnxruntime"]
    if "failed" in ours:
        return f"| {row['name']} | {ours['failed']} |||||||"
    cells = [row["name"], f"{row['bytes'] / 1e6:.1f}"]
    for key in ("load", "first", "steady"):
        both = f"{ours[key] * 1e3:.2f}"
        cells += [both if "failed" in theirs else f"{both} / {theirs[key] * 1e3:.2f}"]
    ratio = "" if "failed" in theirs else f"{theirs['steady'] / ours['steady']:.2f}x"
    gap = f"{row['difference']:.1e}" if "difference" in row else ""
    return f"| {' | '.join([*cells, ratio, gap, ', '.join(outliers(row))])} |"


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("paths", nargs="+", type=Path)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--seconds", type=float, default=0.5)
    parser.add_argument("--repetitions", type=int, default=3)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    rows = []
    for case in cases.find(options.paths):
        rows.append(measure(cases.fill(case, {}, 1), options))
        if not options.json:
            print(f"\r{len(rows)} {case.name:<60}", end="", file=sys.stderr, flush=True)
    rows.sort(key=lambda row: (-len(outliers(row)), row["name"]))
    if options.json:
        print(json.dumps(rows, indent=1))
        return
    print(file=sys.stderr)
    print(
        "| model | MB | load (ms, ours / onnxruntime) | first run | steady run | faster | difference | outlier |"
    )
    print("|---|---|---|---|---|---|---|---|")
    print("\n".join(text_of(row) for row in rows))


if __name__ == "__main__":
    main()
