# SPDX-License-Identifier: Apache-2.0
"""How far past its deadline a run goes: every operator of tests/random, drawn at random and grown until it is long.

python bench/stops_random.py [--seed 1] [--each 3] [--elements 16] [--threads 1,2] [--providers cpu,reference]
                             [--only NAME,NAME] [--json]
A drawn node gets one of its sizes multiplied, wherever that size stands, until its inputs have so many million elements.
Milliseconds past the deadline, the longest for each operator, latest first; then the operators of which no long run
could be drawn (what decides their size is not an input's size; bench/stops.py has some of them).
"""

import argparse
import json
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tests" / "random"))

import cases  # noqa: E402
import numpy as np  # noqa: E402
from draw import Draw  # noqa: E402
from recipe import Control, Present  # noqa: E402

import sardonyx  # noqa: E402
from net import Net  # noqa: E402

PROMPT = 100  # milliseconds
DRAWS = 60  # until an operator counts as one that cannot be drawn long


def grown(draw: Draw, inputs: list, elements: float) -> list | None:
    """The inputs with one size multiplied wherever it stands."""
    arrays = [a for a in inputs if isinstance(a, np.ndarray) and a.size]
    sizes = sorted({n for a in arrays for n in a.shape if n > 0})
    if not sizes:
        return None
    old = draw.of(sizes)
    largest = max((a for a in arrays if old in a.shape), key=lambda a: a.size)
    factor = (elements / largest.size) ** (1 / largest.shape.count(old))
    if largest.dtype == object:
        factor /= 20  # a text is larger than a number
    new = int(old * factor)

    def grow(a):
        if not isinstance(a, np.ndarray) or old not in a.shape or not a.size:
            return a
        shape = [new if n == old else n for n in a.shape]
        return np.resize(a, shape).astype(a.dtype) if np.prod(shape, dtype=float) <= 2 * elements else a

    return [grow(a) for a in inputs]


def long_case(draw: Draw, key: tuple[str, str], elements: float) -> tuple[str, Net] | None:
    spec = cases.node(draw, [key[1]])
    if (spec.schema.domain, spec.schema.name) != key:
        return None
    inputs = grown(draw, spec.inputs, elements)
    if inputs is None:
        return None
    domain = spec.schema.domain
    opset = spec.opset if not domain else cases.graphs.PEER_OPSET
    net = Net(opset, {domain: spec.opset} if domain else {})

    def name(value) -> str:
        if value is None:
            return ""
        if isinstance(value, Control):
            return net.constant(value.array)
        if isinstance(value, Present):
            return net.node("Optional", [net.feed(value.array, None)])
        return net.feed(value, None)

    names = [name(value) for value in inputs]
    results = net.node(
        spec.schema.name, names, spec.attrs, [bool(f) for f in spec.outputs], domain, spec.schema.attributes
    )
    net.outputs = [r for r in ([results] if isinstance(results, str) else results) if r]
    return spec.label, net


def late(net: Net, provider: str, threads: int, deadline: float) -> float | None:
    """Milliseconds past the deadline; None if there is no such run, or it is short."""
    options = sardonyx.SessionOptions()
    options.intra_op_num_threads = threads
    try:
        session = sardonyx.InferenceSession(net.model().SerializeToString(), options, [provider])
    except Exception:
        return None
    start = time.monotonic()
    try:
        session.run(None, net.feeds, sardonyx.RunOptions(timeout=deadline))
    except TimeoutError:
        return 1e3 * (time.monotonic() - start - deadline)
    except Exception:
        return None
    return None


def measure(key: tuple[str, str], options) -> dict:
    row = {"operator": key[1], "longest": None, "case": "", "runs": 0}
    ways = [(p, int(t)) for p in options.providers.split(",") for t in options.threads.split(",")]
    found = 0
    for number in range(DRAWS):
        if found == options.each:
            break
        draw = Draw(options.seed, "stops", number, key[1])
        made = long_case(draw, key, options.elements * 1e6)
        if made is None:
            continue
        label, net = made
        deadline = draw.one(0.01, 0.03, 0.08, 0.15)
        took = {way: late(net, *way, deadline) for way in ways}
        took = {way: ms for way, ms in took.items() if ms is not None}
        found += bool(took)
        row["runs"] += len(took)
        for (provider, threads), ms in took.items():
            if row["longest"] is None or ms > row["longest"]:
                feeds = ", ".join(
                    f"{a.dtype}{list(a.shape)}" for a in net.feeds.values() if hasattr(a, "dtype")
                )
                row["longest"] = ms
                row["case"] = f"{label} number {number}, {provider}, threads {threads}: {feeds}"
    return row


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--each", type=int, default=3, help="long nodes of each operator")
    parser.add_argument("--elements", type=float, default=16, help="millions")
    parser.add_argument("--threads", default="1,2")
    parser.add_argument("--providers", default="cpu,reference")
    parser.add_argument("--only", default="")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    keys = cases.operators(options.only.split(",") if options.only else None)
    rows = []
    for key in keys:
        rows.append(measure(key, options))
        if sys.stderr.isatty():
            print(f"\r{len(rows)} of {len(keys)} {key[1]:40}", end="", file=sys.stderr, flush=True)
    short = [row["operator"] for row in rows if row["longest"] is None]
    rows = sorted((row for row in rows if row["longest"] is not None), key=lambda row: -row["longest"])
    if options.json:
        print(json.dumps({"rows": rows, "short": short}, indent=2))
    else:
        print(f"\n{'operator':28} {'runs':>4} {'latest ms':>9}")
        for r in rows:
            mark = f"  late: {r['case']}" if r["longest"] > PROMPT else ""
            print(f"{r['operator']:28} {r['runs']:4} {r['longest']:9.1f}{mark}")
        print(f"{len(rows)} operators; no long run drawn of: {', '.join(short)}")
    return 1 if any(r["longest"] > PROMPT for r in rows) else 0


if __name__ == "__main__":
    sys.exit(main())
