# SPDX-License-Identifier: Apache-2.0
"""The matrix: how far each way of running a model is from its float64 evaluation, with onnxruntime beside it.

python tests/matrix.py [FOLDER ...] [--only NAME ...] [--json]: by default the stand-in models and models/digits.
Ways: cpu at each vector level, without rules, with two threads, the reference, cpu through the C interface
(loopback), and cpu mixed with the toy plugin. The error of one run is max |y - truth| / max |truth| over all outputs;
small models run on several inputs, since a single maximum is mostly chance, and show the mean of those errors.
Fails if any run is off by more than 1e-4, if the error on a model is more than twice onnxruntime's, or if it is
larger on average over the models. Where onnx's own evaluator can run a model in float64, the truth itself is compared with it.
Plugins are looked for in the release build, or in the folder that SARDONYX_PLUGINS names.
"""

import argparse
import json
import math
import os
import pickle
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT / "bench"), str(ROOT / "tests" / "models")]

import cases  # noqa: E402
import numpy as np  # noqa: E402

LIMIT = 1e-4
# Twice the half unit in the last place that writing a result as float32 costs anybody: nobody can promise less.
FLOOR = 2**-23
SMALL = 4e6  # bytes of a model that is run on more inputs than its own
SHUFFLES = 15
CHANCE = 1.05  # two engines that err alike differ by this much in the mean, from machine to machine
LEVELS = ("baseline", "avx2", "avx512")
PLUGINS = Path(os.environ.get("SARDONYX_PLUGINS", ROOT / "build" / "release" / "plugins"))


def ways() -> list[dict]:
    """Name, vector level, and what goes into the session."""
    found = [{"name": level, "isa": level} for level in levels()]
    found.append({"name": "no rules", "rules": False})
    found.append({"name": "2 threads", "threads": 2})
    found.append({"name": "reference", "providers": ["reference"]})
    for name, providers in (("loopback", ["loopback"]), ("toy+cpu", ["toy", "cpu"])):
        plugin = PLUGINS / f"sardonyx_{name.split('+')[0]}.so"
        if not plugin.exists():
            sys.exit(f"there is no plugin {plugin}")
        found.append({"name": name, "providers": providers, "plugins": [str(plugin)]})
    return found


def levels() -> list[str]:
    """Those that this machine has."""
    import sardonyx

    best = sardonyx.explain(ROOT / "models" / "digits" / "digits.onnx")["isa"]
    return list(LEVELS[: LEVELS.index(best) + 1]) if best in LEVELS else [best]


def flat(values: list) -> list:
    """Without shapes: onnx's evaluator gives a loop's numbers one axis more than the standard does."""
    return [flat(v) if isinstance(v, list) else v if isinstance(v, dict) else np.ravel(v) for v in values]


def numbers(value) -> tuple[list[np.ndarray], list]:
    """The floating-point parts of an output, and everything that must be equal."""
    if isinstance(value, dict):
        return [np.array(list(value.values()), np.float64)], list(value)
    if isinstance(value, list):
        floats, exact = [], [len(value)]
        for item in value:
            a, b = numbers(item)
            floats += a
            exact += b
        return [np.concatenate([part.reshape(-1) for part in floats])] if floats else [], exact
    value = np.asarray(value)
    if value.dtype.kind in "OUSbiu":
        return [], value.tolist()
    return [value.astype(np.complex128 if value.dtype.kind == "c" else np.float64)], list(value.shape)


def error_of(got: list, truth: list) -> float:
    worst = 0.0
    for a, b in zip(got, truth, strict=True):
        (mine, exact), (right, expected) = numbers(a), numbers(b)
        if exact != expected:
            return math.inf
        for x, y in zip(mine, right, strict=True):
            if x.size and not np.array_equal(x, y, equal_nan=True):
                gap, largest = np.abs(x - y).max(), np.abs(y).max()
                worst = max(worst, float(gap / largest if largest else gap))
                worst = math.inf if math.isnan(worst) else worst
    return worst


def summary(errors: list[float]) -> dict:
    return {"error": sum(errors) / len(errors), "worst": max(errors)}


def shuffled(feed: dict, seed: int) -> dict:
    """The same values in another order along the last axis, the same order wherever that axis has the same size."""
    feed = {name: np.asarray(value) for name, value in feed.items()}
    sizes = sorted({value.shape[-1] for value in feed.values() if value.ndim})
    random = np.random.default_rng(seed)
    orders = {size: random.permutation(size) for size in sizes}
    return {
        name: np.ascontiguousarray(value[..., orders[value.shape[-1]]]) if value.ndim else value
        for name, value in feed.items()
    }


def run_way(way: dict, model: str, feeds: list[dict], truths: list[list]) -> dict:
    import sardonyx

    ready = sardonyx.load(
        model,
        threads=way.get("threads", 1),
        rules=way.get("rules", True),
        providers=way.get("providers", ["cpu"]),
        plugins=way.get("plugins", ()),
    )
    errors = [error_of(ready.session.run(None, f), t) for f, t in zip(feeds, truths, strict=True)]
    answer = summary(errors)
    steps = ready.explain()["steps"]
    mine = sum(step["provider"] == (way.get("providers") or ["cpu"])[0] for step in steps)
    return {**answer, "share": mine / max(len(steps), 1), "steps": len(steps)}


def worker() -> None:
    """A process of its own, so that the vector level can be capped: answers each job on standard input."""
    for line in sys.stdin:
        job = json.loads(line)
        try:
            with open(job["data"], "rb") as file:
                feeds, truths = pickle.load(file)
            answer = run_way(job["way"], job["model"], feeds, truths)
        except Exception as error:
            answer = {"failed": str(error).splitlines()[0] if str(error) else repr(error)}
        print(json.dumps(answer), flush=True)


class Workers:
    """One process for each vector level, started when first needed."""

    def __init__(self) -> None:
        self.processes: dict[str, subprocess.Popen] = {}

    def ask(self, way: dict, model: str, data: str) -> dict:
        level = way.get("isa", "")
        process = self.processes.get(level)
        if process is None or process.poll() is not None:
            environment = {**os.environ, **({"SARDONYX_ISA": level} if level else {})}
            process = subprocess.Popen(
                [sys.executable, __file__, "--worker"],
                env=environment,
                text=True,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
            )
            self.processes[level] = process
        process.stdin.write(json.dumps({"way": way, "model": model, "data": data}) + "\n")
        process.stdin.flush()
        answer = process.stdout.readline()
        return json.loads(answer) if answer else {"failed": f"ended with status {process.wait()}"}

    def close(self) -> None:
        for process in self.processes.values():
            process.stdin.close()
            process.wait()


def by_onnxruntime(model: Path, feeds: list[dict], truths: list[list]) -> dict:
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    options.log_severity_level = 3
    try:
        session = onnxruntime.InferenceSession(str(model), options, providers=["CPUExecutionProvider"])
        return summary([error_of(session.run(None, f), t) for f, t in zip(feeds, truths, strict=True)])
    except Exception as error:
        return {"failed": str(error).splitlines()[0]}


def by_onnx(model: Path, feeds: list[dict], truths: list[list]) -> dict:
    """onnx's reference evaluator in float64, for models small enough for it."""
    import onnx

    import net

    if model.stat().st_size > SMALL:
        return {}
    try:
        proto = onnx.load(model)
        pairs = zip(feeds, truths, strict=True)
        return {"error": max(error_of(flat(net.by_float64(proto, f)), flat(t)) for f, t in pairs)}
    except Exception:
        return {}


def measure(case: cases.Case, configurations: list[dict], workers: Workers) -> dict:
    import sardonyx

    cases.fill(case, {}, variants=1)
    if case.model.stat().st_size < SMALL and all(hasattr(v, "dtype") for v in case.feeds[0].values()):
        case.feeds += [shuffled(case.feeds[0], seed) for seed in range(SHUFFLES)]
    truths = [sardonyx.evaluate(case.model, feed) for feed in case.feeds]
    row = {"model": case.name, "ways": {}}
    with tempfile.NamedTemporaryFile(suffix=".pickle") as file:
        pickle.dump((case.feeds, truths), file)
        file.flush()
        for way in configurations:
            row["ways"][way["name"]] = workers.ask(way, str(case.model), file.name)
    row["onnxruntime"] = by_onnxruntime(case.model, case.feeds, truths)
    row["onnx"] = by_onnx(case.model, case.feeds, truths)
    return row


def judge(row: dict) -> list[str]:
    """What is wrong with a row."""
    problems = []
    theirs = row["onnxruntime"].get("error")
    for name, way in row["ways"].items():
        if "failed" in way:
            problems.append(f"{row['model']}, {name}: {way['failed']}")
            continue
        # Where float32 itself decides otherwise than float64 (a tree's threshold), onnxruntime shows it too.
        if way["worst"] > LIMIT and not (theirs is not None and way["worst"] <= row["onnxruntime"]["worst"]):
            problems.append(f"{row['model']}, {name}: error {way['worst']:.1e}, {LIMIT:.0e} at most")
        elif theirs is not None and way["error"] > max(2 * theirs, FLOOR):
            problems.append(
                f"{row['model']}, {name}: error {way['error']:.1e}, onnxruntime's is {theirs:.1e}"
            )
    if row["onnx"].get("error", 0) > 1e-6:
        problems.append(f"{row['model']}: onnx's float64 differs from ours by {row['onnx']['error']:.1e}")
    return problems


def means(rows: list[dict], names: list[str]) -> tuple[dict[str, float], float]:
    """Of each way, and of onnxruntime, over the models that it can run."""
    both = [r for r in rows if math.isfinite(r["onnxruntime"].get("error", math.inf))]
    count = max(len(both), 1)
    ours = {name: sum(r["ways"][name].get("error", math.inf) for r in both) / count for name in names}
    return ours, sum(r["onnxruntime"]["error"] for r in both) / count


def judge_means(rows: list[dict], names: list[str]) -> list[str]:
    ours, theirs = means(rows, names)
    return [
        f"{name}: mean error {mean:.2e}, onnxruntime's is {theirs:.2e}"
        for name, mean in ours.items()
        if mean > max(theirs * CHANCE, FLOOR / 2)
    ]


def cell(answer: dict) -> str:
    if "failed" in answer:
        return "failed"
    return f"{answer['error']:.1e}" if "error" in answer else ""


def show(rows: list[dict], configurations: list[dict]) -> None:
    names = [way["name"] for way in configurations]
    width = max(len(row["model"]) for row in rows)
    head = ["model".ljust(width), *(name.rjust(10) for name in names), "onnxruntime", "onnx f64".rjust(9)]
    print("  ".join(head))
    for row in rows:
        line = [row["model"].ljust(width), *(cell(row["ways"][name]).rjust(10) for name in names)]
        print("  ".join([*line, cell(row["onnxruntime"]).rjust(11), cell(row["onnx"]).rjust(9)]))
    ours, theirs = means(rows, names)
    mean = [f"{ours[name]:.1e}".rjust(10) for name in names]
    print("  ".join(["mean".ljust(width), *mean, f"{theirs:.1e}".rjust(11)]))
    toy = [row["ways"]["toy+cpu"] for row in rows if "share" in row["ways"].get("toy+cpu", {})]
    if toy:
        mine = sum(answer["share"] * answer["steps"] for answer in toy)
        print(f"the toy plugin takes {mine:.0f} of {sum(answer['steps'] for answer in toy)} steps")


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folders", nargs="*", type=Path)
    parser.add_argument("--only", nargs="+", help="models whose name contains one of these")
    parser.add_argument("--ways", nargs="+", help="only these ways")
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--worker", action="store_true", help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.worker:
        worker()
        return 0
    found = cases.find(args.folders or [ROOT / "models" / "digits", ROOT / "build" / "test_models"])
    found = [case for case in found if case.name != "unsupported"]
    if args.only:
        found = [case for case in found if any(part in case.name for part in args.only)]
    if not found:
        sys.exit("no model was found")
    configurations = [way for way in ways() if not args.ways or way["name"] in args.ways]
    workers, rows = Workers(), []
    for case in found:
        rows.append(measure(case, configurations, workers))
        print(f"{case.name} done", file=sys.stderr, flush=True)
    workers.close()
    problems = [problem for row in rows for problem in judge(row)]
    problems += judge_means(rows, [way["name"] for way in configurations])
    if args.json:
        print(json.dumps({"rows": rows, "problems": problems}))
    else:
        show(rows, configurations)
        for problem in problems:
            print(problem)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
