# SPDX-License-Identifier: Apache-2.0
"""The format alone: how soon a model can be looked at, and how little memory the editing verbs need.

python bench/format.py [--model FILE.onnx] [--rounds N] [--folder DIR]
1. `sardonyx info` beside onnx.load and an onnxruntime session, on one model of about 400 MB (made here unless --model
   names one), warm, in rounds that alternate. Ours is the whole process, start included; the others are timed inside a
   Python that is already running. onnx and onnxruntime must be installed for their columns.
2. Every editing verb on a model of 6 GB with external data, and on one file of 5 GB with a tensor of 4.5 GB. The data
   are sparse files: sizes and offsets are real, the zeros are not on the disk. Anonymous memory is RssAnon of
   /proc/PID/status, the largest that a tight loop saw, in a run to which the system gives no more than 100 MB of
   private writable memory at all (RLIMIT_DATA): what the loop may miss, the limit does not.
Writes bench/results/format.md and format.json, and prints the table.
"""

import argparse
import json
import os
import platform
import re
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PROGRAM = Path(os.environ.get("SARDONYX", ROOT / "build/sardonyx"))
LIMIT = 100_000_000
GIGABYTE = 1_000_000_000


def varint(n: int) -> bytes:
    out = bytearray()
    while n > 127:
        out.append(n & 127 | 128)
        n >>= 7
    return bytes(out) + bytes([n])


def number(field: int, value: int) -> bytes:
    return varint(field << 3) + varint(value)


def head(field: int, size: int) -> bytes:
    return varint(field << 3 | 2) + varint(size)


def message(field: int, payload: bytes | str) -> bytes:
    data = payload.encode() if isinstance(payload, str) else payload
    return head(field, len(data)) + data


def value_info(name: str, *dims: int | str) -> bytes:
    shape = b"".join(message(1, number(1, d) if isinstance(d, int) else message(2, d)) for d in dims)
    tensor = number(1, 1) + message(2, shape)
    return message(1, name) + message(2, message(1, tensor))


def node(kind: str, inputs: list[str], output: str) -> bytes:
    return (
        b"".join(message(1, i) for i in inputs)
        + message(2, output)
        + message(3, f"/{output}")
        + message(4, kind)
    )


def chain(weights: list[str], width: int) -> bytes:
    """x @ w0 @ w1 ... with an activation between: the graph without its tensors."""
    graph, last = message(2, "chain"), "x"
    for i, w in enumerate(weights):
        graph += message(1, node("MatMul", [last, w], f"h{i}"))
        graph += message(1, node("Relu", [f"h{i}"], f"r{i}"))
        last = f"r{i}"
    graph += message(1, node("Identity", [last], "y"))
    return graph + message(11, value_info("x", "N", width)) + message(12, value_info("y", "N", width))


def model(graph_size: int) -> tuple[bytes, bytes]:
    """What stands before the graph's bytes and after them."""
    before = number(1, 8) + message(2, "bench/format.py") + head(7, graph_size)
    return before, message(8, number(2, 17)) + message(14, message(1, "author") + message(2, "nobody"))


def tensor_head(name: str, rows: int, width: int) -> bytes:
    return number(1, rows) + number(1, width) + number(2, 1) + message(8, name)


def dense_model(path: Path, megabytes: int = 400) -> None:
    """One file of real bytes, as an encoder has them: tensors of 4 MB."""
    width = 1000
    names = [f"layer.{i}.weight" for i in range(megabytes // 4)]
    block = os.urandom(1 << 20) * 4
    graph = chain(names, width)
    parts = [tensor_head(n, width, width) + head(9, 4 * width * width) for n in names]
    sizes = [len(p) + 4 * width * width for p in parts]
    total = len(graph) + sum(len(head(5, s)) + s for s in sizes)
    before, after = model(total)
    with path.open("wb") as file:
        file.write(before + graph)
        for part, size in zip(parts, sizes, strict=True):
            file.write(head(5, size) + part + block[: 4 * width * width])
        file.write(after)


def single_file(path: Path) -> None:
    """5 GB in one file: a tensor of 4.5 GB and one of 0.5 GB."""
    width = 25_000
    rows = {"large": 45_000, "small": 5_000}
    graph = chain([], width)
    parts = {n: tensor_head(n, r, width) + head(9, 4 * r * width) for n, r in rows.items()}
    sizes = {n: len(parts[n]) + 4 * r * width for n, r in rows.items()}
    before, after = model(len(graph) + sum(len(head(5, s)) + s for s in sizes.values()))
    with path.open("wb") as file:
        file.write(before + graph)
        for name, r in rows.items():
            file.write(head(5, sizes[name]) + parts[name])
            file.seek(4 * r * width, os.SEEK_CUR)
        file.write(after)


def with_data_file(path: Path, count: int = 12, width: int = 11_180) -> None:
    """6 GB: a small model, and tensors of 0.5 GB each in weights.bin."""
    size, names = 4 * width * width, [f"w{i}" for i in range(count)]
    graph = chain(names, width)
    for i, name in enumerate(names):
        tensor = tensor_head(name, width, width) + number(14, 1)
        offset = i * (-(-size // 4096) * 4096)
        for key, value in (("location", "weights.bin"), ("offset", offset), ("length", size)):
            tensor += message(13, message(1, key) + message(2, str(value)))
        graph += message(5, tensor)
    before, after = model(len(graph))
    path.write_bytes(before + graph + after)
    with (path.parent / "weights.bin").open("wb") as file:
        file.truncate(offset + size)


def timed(call) -> float:
    start = time.perf_counter()
    call()
    return time.perf_counter() - start


def info(path: Path) -> None:
    subprocess.run([PROGRAM, "info", path], stdout=subprocess.DEVNULL, check=True)


def looks(path: Path, rounds: int) -> dict:
    """Median seconds of each way to look at the model."""
    ways = {"sardonyx info": lambda: info(path)}
    try:
        import onnx

        ways["onnx.load"] = lambda: onnx.load(path)
    except ImportError:
        print("onnx is not installed: its column is missing")
    try:
        import onnxruntime

        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = 1
        ways["onnxruntime session"] = lambda: onnxruntime.InferenceSession(
            path, options, providers=["CPUExecutionProvider"]
        )
    except ImportError:
        print("onnxruntime is not installed: its column is missing")
    times = {name: [] for name in ways}
    for round_ in range(rounds + 1):
        for name, call in ways.items():
            for _ in range(5 if name == "sardonyx info" else 1):
                seconds = timed(call)
                if round_ > 0:  # the first warms up
                    times[name].append(seconds)
    return {name: statistics.median(samples) for name, samples in times.items()}


def spent(words: list) -> float:
    """Seconds of one run, the start of the process included."""
    return timed(
        lambda: subprocess.run(
            [PROGRAM, *map(str, words)], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
    )


def watched(words: list) -> tuple[int, int, str]:
    """Status, the most anonymous memory, and standard error of one run that is allowed LIMIT of it."""
    process = subprocess.Popen(
        [PROGRAM, *map(str, words)],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_DATA, (LIMIT, LIMIT)),
    )
    most = 0
    while process.poll() is None:
        try:
            status = Path(f"/proc/{process.pid}/status").read_text()
        except OSError:
            break
        if found := re.search(r"RssAnon:\s+(\d+)", status):
            most = max(most, int(found[1]) * 1024)
    error = process.communicate()[1]
    return process.returncode, most, error


def verbs(path: Path, out: Path, tensor: str) -> list[tuple[str, list]]:
    made = out / "made.onnx"
    array = out / "one.npy"
    return [
        ("info", ["info", path]),
        ("copy", ["copy", path, "-o", made, "--one-file"]),
        ("rename", ["rename", path, "--value", "x=image", "-o", made]),
        ("metadata", ["metadata", path, "--set", "author=somebody", "-o", made]),
        ("external (list)", ["external", path]),
        ("external --pack", ["external", path, "--pack", "packed.bin", "-o", made]),
        ("external --split", ["external", path, "--split", "-o", made]),
        ("external --inside", ["external", path, "--inside", "-o", made]),
        ("tensors", ["tensors", path]),
        ("tensors --extract", ["tensors", path, "--extract", tensor, "-o", array]),
        ("tensors --replace", ["tensors", path, "--replace", f"{tensor}={array}", "-o", made]),
        ("rename --in-place", ["rename", path, "--value", "x=z", "--in-place"]),
    ]


def edits(title: str, path: Path, tensor: str) -> list[dict]:
    out = path.parent / "out"
    rows = []

    def clean():
        out.mkdir(exist_ok=True)
        for file in out.iterdir():
            if file.name != "one.npy":
                file.unlink()

    for name, words in verbs(path, out, tensor):
        back = ["rename", path, "--value", "z=x", "--in-place"] if "--in-place" in words else None
        times = []
        for _ in range(3):
            clean()
            times.append(spent(words))
            if back:
                spent(back)
        clean()
        status, most, error = watched(words)
        row = {"model": title, "verb": name, "seconds": min(times), "anonymous_bytes": most}
        if back:
            spent(back)
        if status != 0:
            row["error"] = error.strip().splitlines()[0] if error.strip() else f"status {status}"
        rows.append(row)
        print(
            f"{title}: {name}: {row['seconds'] * 1e3:.1f} ms, {row['anonymous_bytes'] / 1e6:.1f} MB",
            flush=True,
        )
    shutil.rmtree(out)
    return rows


def table(result: dict) -> str:
    lines = [
        f"A model of {result['megabytes']:.0f} MB, warm; median of {result['rounds']} rounds that alternate:",
        "",
    ]
    lines += ["| | seconds | |", "|---|---|---|"]
    ours = result["looks"]["sardonyx info"]
    for name, seconds in result["looks"].items():
        lines.append(f"| {name} | {seconds:.4f} | {'' if seconds == ours else f'{seconds / ours:.0f}x'} |")
    lines += [
        "",
        "Large models (sparse files), allowed 100 MB of anonymous memory: best time of three, the most memory seen:",
        "",
    ]
    titles = list(dict.fromkeys(row["model"] for row in result["edits"]))
    lines += ["| verb | " + " | ".join(titles) + " |", "|---|" + "---|" * len(titles)]
    for name in dict.fromkeys(row["verb"] for row in result["edits"]):
        cells = []
        for row in (r for r in result["edits"] if r["verb"] == name):
            failed = f" — FAILED: {row['error']}" if "error" in row else ""
            memory = row["anonymous_bytes"] / 1e6
            amount = f"{memory:.0f} MB" if memory >= 1 else "under 1 MB"
            cells.append(f"{row['seconds'] * 1e3:.1f} ms, {amount}{failed}")
        lines.append(f"| {name} | " + " | ".join(cells) + " |")
    return "\n".join(lines) + "\n"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--model", type=Path, help="look at this model instead of one made here")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--folder", type=Path, default=ROOT / "build", help="where the large files go")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory(dir=arguments.folder, prefix="sardonyx-format-") as place:
        folder = Path(place)
        path = arguments.model or folder / "dense.onnx"
        if not arguments.model:
            dense_model(path)
        result = {
            "machine": platform.processor() or platform.machine(),
            "load_average": os.getloadavg()[0],
            "rounds": arguments.rounds,
            "megabytes": path.stat().st_size / 1e6,
            "looks": looks(path, arguments.rounds),
        }
        for name in ("single", "external"):
            (folder / name).mkdir()
        single_file(folder / "single/m.onnx")
        with_data_file(folder / "external/m.onnx")
        result["edits"] = edits("6 GB with external data", folder / "external/m.onnx", "w3")
        result["edits"] += edits("5 GB in one file", folder / "single/m.onnx", "small")
    text = table(result)
    results = ROOT / "bench/results"
    results.mkdir(exist_ok=True)
    (results / "format.md").write_text(text)
    (results / "format.json").write_text(json.dumps(result, indent=1) + "\n")
    print("\n" + text)
    good = all(r["anonymous_bytes"] < LIMIT and "error" not in r for r in result["edits"])
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
