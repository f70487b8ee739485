# SPDX-License-Identifier: Apache-2.0
"""Models beside onnxruntime: both engines in one process on pinned cores, rounds that alternate.

python bench/run.py [--models NAME ...] [--extra FOLDER ...] [--threads 1 2] [--seconds 3] [--json]
Writes a table and a picture into bench/results (latest.md, latest.svg, latest.json) and prints the table. Without
--models, GEMM and convolution beside the measured peak come after it.
Time is the median run with its quartiles; load and memory come from fresh processes, a run each.
"""

import argparse
import json
import os
import pickle
import platform
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "bench"))

import cases  # noqa: E402
import chart  # noqa: E402

ENGINES = ("sardonyx", "onnxruntime")
ROUND_SECONDS = 0.05


def one_node(folder: Path) -> Path:
    """A model of one Relu over four numbers: what a call itself costs."""
    from onnx import TensorProto, helper, save

    def value(name):
        return helper.make_tensor_value_info(name, TensorProto.FLOAT, ["N", 4])

    graph = helper.make_graph([helper.make_node("Relu", ["x"], ["y"])], "one", [value("x")], [value("y")])
    path = folder / "one_node.onnx"
    save(helper.make_model(graph, ir_version=8, opset_imports=[helper.make_opsetid("", 17)]), path)
    return path


def pin(count: int) -> list[int]:
    """This process and what it starts stays on `count` of its cores; the last ones are the quietest."""
    cores = sorted(ALLOWED)[-count:]
    os.sched_setaffinity(0, cores)
    return cores


ALLOWED = os.sched_getaffinity(0)


def make_session(engine: str, model: Path, threads: int):
    ort = __import__(engine)
    options = ort.SessionOptions()
    options.intra_op_num_threads = threads
    options.inter_op_num_threads = 1
    options.log_severity_level = 3
    return ort.InferenceSession(str(model), options, providers=["CPUExecutionProvider"])


def spread(samples: list[float]) -> dict:
    if len(samples) == 1:
        return {"median": samples[0], "low": samples[0], "high": samples[0], "runs": 1}
    low, median, high = statistics.quantiles(samples, n=4, method="inclusive")
    return {"median": median, "low": low, "high": high, "best": min(samples), "runs": len(samples)}


def measure(case: cases.Case, threads: int, seconds: float) -> dict:
    """Times of both engines, in rounds of about 50 ms that alternate."""
    feeds = cases.rotated(case)
    sessions = {engine: make_session(engine, case.model, threads) for engine in ENGINES}
    single = {}
    for engine, session in sessions.items():
        for feed in (*feeds, feeds[0]):
            start = time.perf_counter()
            session.run(None, feed)
            single[engine] = time.perf_counter() - start
    samples: dict[str, list[float]] = {engine: [] for engine in ENGINES}
    began, rounds, wall, work = time.perf_counter(), 0, 0.0, 0.0
    while rounds < 6 or time.perf_counter() - began < seconds:
        for engine in ENGINES if rounds % 2 == 0 else ENGINES[::-1]:
            time.sleep(0.003)  # the other engine's threads may still be spinning
            run = sessions[engine].run
            run(None, feeds[-1])
            wall, work = wall - time.perf_counter(), work - time.process_time()
            for k in range(max(1, int(ROUND_SECONDS / single[engine]))):
                feed = feeds[k % len(feeds)]
                start = time.perf_counter()
                run(None, feed)
                samples[engine].append(time.perf_counter() - start)
            wall, work = wall + time.perf_counter(), work + time.process_time()
        rounds += 1
    return {"had": work / wall, **{engine: spread(times) for engine, times in samples.items()}}


def probe(case: cases.Case, threads: int, repetitions: int) -> dict:
    """Load time and anonymous memory of both engines, each in fresh processes."""
    with tempfile.NamedTemporaryFile(suffix=".pickle") as file:
        pickle.dump(case.feeds[0], file)
        file.flush()
        seen: dict[str, list[dict]] = {engine: [] for engine in ENGINES}
        for _ in range(repetitions):
            for engine in ENGINES:
                command = [sys.executable, str(ROOT / "bench" / "fresh_process.py"), engine, str(case.model)]
                done = subprocess.run([*command, str(threads), file.name], capture_output=True, text=True)
                if done.returncode != 0:
                    raise RuntimeError(f"{engine}: {done.stderr.strip().splitlines()[-1]}")
                seen[engine].append(json.loads(done.stdout.splitlines()[-1]))
    return {
        engine: {key: statistics.median(one[key] for one in list_) for key in ("load", "first", "memory")}
        for engine, list_ in seen.items()
    }


def duration(seconds: float) -> str:
    for scale, unit in ((1, "s"), (1e3, "ms"), (1e6, "µs")):
        if seconds * scale >= 1 or unit == "µs":
            return (
                f"{seconds * scale:.3g} {unit}" if seconds * scale < 100 else f"{seconds * scale:.0f} {unit}"
            )
    return ""


def megabytes(count: float) -> str:
    return f"{count / 1e6:.1f} MB"


def table(rows: list[dict], about: str) -> str:
    lines = [
        f"Sardonyx beside onnxruntime: {about}",
        "",
        "A ratio above 1 means that Sardonyx is better. Time: median [quartiles] of one run.",
        "",
        "| model | threads | sardonyx | onnxruntime | ratio | load | theirs | ratio | memory | theirs | ratio |",
        "|---|---|---|---|---|---|---|---|---|---|---|",
    ]
    for row in rows:
        cells = [row["model"], str(row["threads"])]
        if "failed" in row:
            lines.append(f"| {' | '.join(cells)} | {row['failed']} | | | | | | | | |")
            continue
        for engine in ENGINES:
            s = row["time"][engine]
            cells.append(
                f"**{duration(s['median'])}** [{duration(s['low'])} – {duration(s['high'])}]"
                if engine == ENGINES[0]
                else f"{duration(s['median'])} [{duration(s['low'])} – {duration(s['high'])}]"
            )
        cells.append(f"**{row['ratio']:.2f}x**")
        if "probe" in row:
            ours, theirs = (row["probe"][engine] for engine in ENGINES)
            cells += [
                duration(ours["load"]),
                duration(theirs["load"]),
                f"{theirs['load'] / ours['load']:.1f}x",
            ]
            cells += [megabytes(ours["memory"]), megabytes(theirs["memory"])]
            cells.append(f"{theirs['memory'] / max(ours['memory'], 1e5):.1f}x")
        else:
            cells += [""] * 6
        lines.append(f"| {' | '.join(cells)} |")
    busy = [row for row in rows if "time" in row and row["time"]["had"] < 0.9]
    for row in busy:
        had = row["time"]["had"]
        lines += [
            "",
            f"{row['model']}, {row['threads']} threads: had its cores {had:.0%} of the time; do not trust it.",
        ]
    measured = [row["ratio"] for row in rows if "ratio" in row and row not in busy]
    if measured:
        lines += ["", f"Geometric mean of the time ratios: {statistics.geometric_mean(measured):.2f}x."]
    return "\n".join(lines) + "\n"


def kernels() -> str:
    """GEMM and convolution as a share of this machine's measured peak, one core."""
    program = ROOT / "build" / "release" / "bench" / "bench_gemm_conv"
    if not program.exists():
        return ""
    pin(1)
    done = subprocess.run([str(program)], capture_output=True, text=True)
    return f"\n```\n{done.stdout.rstrip()}\n```\n" if done.returncode == 0 else ""


def about() -> str:
    import onnxruntime

    import sardonyx

    model = next(
        (line.split(":")[1].strip() for line in open("/proc/cpuinfo") if line.startswith("model name")),
        platform.processor(),
    )
    return (
        f"{sardonyx.__version__} and {onnxruntime.__version__}, {model}, {len(ALLOWED)} cores, "
        f"load average {os.getloadavg()[0]:.1f} at the start"
    )


def benchmark(case: cases.Case, args: argparse.Namespace) -> list[dict]:
    rows = []
    for threads in args.threads:
        row = {"model": case.name, "threads": threads}
        rows.append(row)
        if threads > len(ALLOWED):
            row["failed"] = f"only {len(ALLOWED)} cores here"
            continue
        pin(threads)
        try:
            if not case.feeds:
                cases.fill(case, args.dims)
            row["time"] = measure(case, threads, args.seconds)
            ours, theirs = (row["time"][engine]["median"] for engine in ENGINES)
            row["ratio"] = theirs / ours
            if args.loads:
                row["probe"] = probe(case, threads, args.loads)
        except Exception as error:
            row["failed"] = str(error).splitlines()[0]
        what = row.get("failed") or f"{row['ratio']:.2f}x"
        print(f"{case.name}, {threads} threads: {what}", file=sys.stderr, flush=True)
    return rows


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--models", nargs="+", help="only models whose name contains one of these")
    parser.add_argument("--extra", nargs="+", type=Path, default=[], help="files or folders with more models")
    parser.add_argument("--threads", nargs="+", type=int, default=[1, 2])
    parser.add_argument("--seconds", type=float, default=3, help="of measuring, a model and thread count")
    parser.add_argument("--loads", type=int, default=5, help="fresh processes for load and memory; 0: none")
    parser.add_argument("--dim", nargs="+", default=[], help="sizes of named dimensions, as in batch=4")
    parser.add_argument("--no-kernels", action="store_true", help="leave out GEMM and convolution alone")
    parser.add_argument("--out", type=Path, default=ROOT / "bench" / "results")
    parser.add_argument("--json", action="store_true", help="print the numbers instead of the table")
    args = parser.parse_args()
    args.dims = {name: int(size) for name, size in (text.split("=") for text in args.dim)}

    ours = ROOT / "build" / "bench_models"
    subprocess.run(
        [sys.executable, str(ROOT / "tests" / "models" / "build.py"), "--full"], check=True, stdout=2
    )
    with tempfile.TemporaryDirectory() as folder:
        found = cases.find([one_node(Path(folder)), ROOT / "models" / "digits", ours, *args.extra])
        if args.models:
            found = [case for case in found if any(part in case.name for part in args.models)]
        if not found:
            print("there is no such model", file=sys.stderr)
            return 2
        head = about()
        rows = [row for case in found for row in benchmark(case, args)]
    text = table(rows, head) + ("" if args.no_kernels or args.models else kernels())
    args.out.mkdir(parents=True, exist_ok=True)
    (args.out / "latest.md").write_text(text)
    (args.out / "latest.json").write_text(json.dumps({"about": head, "rows": rows}, indent=1) + "\n")
    (args.out / "latest.svg").write_text(chart.ratios(rows))
    print(json.dumps({"about": head, "rows": rows}) if args.json else text)
    return 1 if any("failed" in row and "cores" not in row["failed"] for row in rows) else 0


if __name__ == "__main__":
    sys.exit(main())
