# SPDX-License-Identifier: Apache-2.0
"""Graphs of many nodes beside onnxruntime: load, first run, steady run and memory, for each node.

python bench/graph_sizes.py [--kinds chain ...] [--sizes 1000 10000 ...] [--engines sardonyx onnxruntime] [--json]
The last column is the power of the size by which load, first run, steady run or memory grows the fastest between the
two largest sizes: 1 is linear, 2 quadratic. Smaller sizes say less, because they fit into a cache.
An engine that takes longer than --limit seconds for one graph is stopped and left out of that kind's larger sizes.
"""

import argparse
import json
import math
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from fresh_process import bring_memory

SIZES = (1_000, 10_000, 100_000, 200_000)
ENGINES = ("sardonyx", "onnxruntime")
OPSET = 17
NEST = 16  # Ifs within Ifs
CALL = 10  # nodes of a function
MOST_GROWTH = 1.5
MEMORY_OF_A_NODE = 32_000  # bytes, more than either engine takes


class Net:
    """A graph that is written straight into its messages: helpers take longer than the engines."""

    def __init__(self):
        from onnx import ModelProto, TensorProto

        self.float, self.int64, self.bool = TensorProto.FLOAT, TensorProto.INT64, TensorProto.BOOL
        self.model = ModelProto(ir_version=8)
        self.model.opset_import.add(domain="", version=OPSET)
        self.graph = self.model.graph
        self.graph.name = "sized"
        self.made = 0

    def fresh(self) -> str:
        self.made += 1
        return f"v{self.made}"

    def value(self, into, name: str, dims, elem=None) -> str:
        info = into.add(name=name)
        info.type.tensor_type.elem_type = elem or self.float
        info.type.tensor_type.shape.SetInParent()
        for d in dims:
            dim = info.type.tensor_type.shape.dim.add()
            if isinstance(d, str):
                dim.dim_param = d
            else:
                dim.dim_value = d
        return name

    def input(self, name: str, dims, elem=None) -> str:
        return self.value(self.graph.input, name, dims, elem)

    def output(self, name: str, dims, elem=None):
        self.value(self.graph.output, name, dims, elem)

    def fill(self, tensor, dims, values, elem=None):
        tensor.data_type = elem or self.float
        tensor.dims.extend(dims)
        (tensor.int64_data if tensor.data_type == self.int64 else tensor.float_data).extend(values)

    def weight(self, dims, values, elem=None) -> str:
        tensor = self.graph.initializer.add(name=self.fresh())
        self.fill(tensor, dims, values, elem)
        return tensor.name

    def node(self, op: str, inputs, graph=None, domain="", **attributes) -> str:
        from onnx import helper

        out = self.fresh()
        node = (graph or self.graph).node.add(op_type=op, name=f"n{self.made}", domain=domain)
        node.input.extend(inputs)
        node.output.append(out)
        node.attribute.extend(helper.make_attribute(k, v) for k, v in attributes.items())
        return out


def chain(net: Net, n: int):
    x = net.input("x", ["N", 8])
    bias = net.weight([8], [0.5] * 8)
    for i in range(n):
        x = net.node("Add", [x, bias]) if i % 2 else net.node("Relu", [x])
    net.output(x, ["N", 8])


def branches(net: Net, n: int):
    """Chains of ten from one input, added up in pairs at the end."""
    x = net.input("x", ["N", 8])
    ends = []
    for _ in range(n // 11):
        end = x
        for op in ("Exp", "Neg", "Sigmoid", "Tanh", "Abs") * 2:
            end = net.node(op, [end])
        ends.append(end)
    while len(ends) > 1:
        ends = [net.node("Add", ends[k : k + 2]) for k in range(0, len(ends) - 1, 2)] + ends[len(ends) & ~1 :]
    net.output(ends[0], ["N", 8])


def fan_out(net: Net, n: int):
    x = net.input("x", ["N", 8])
    middle = net.node("Exp", [x])
    ends = [net.node("Mul", [middle, net.weight([1], [float(i)])]) for i in range(n - 2)]
    net.output(net.node("Max", ends), ["N", 8])


def wide(op: str, **attributes):
    def make(net: Net, n: int):
        x = net.input("x", ["N", 8])
        parts = [net.node("Relu", [x]), net.node("Neg", [x])]
        net.output(net.node(op, [parts[i % 2] for i in range(n)], **attributes), ["N", "M"])

    return make


def initializers(net: Net, n: int):
    x = net.input("x", ["N", 8])
    for i in range(n):
        x = net.node("Add", [x, net.weight([8], [float(i)] * 8)])
    net.output(x, ["N", 8])


def constants(net: Net, n: int):
    """Constant nodes, added up in a chain that folds to one number."""
    x = net.input("x", ["N", 8])
    total = None
    for i in range(n // 2):
        from onnx import TensorProto

        tensor = TensorProto()
        net.fill(tensor, [2], [float(i % 7), 1.0])
        one = net.node("Constant", [], value=tensor)
        total = net.node("Add", [total, one]) if total else one
    zero = net.weight([2, 8], [0.0] * 16)
    net.output(net.node("Add", [x, net.node("MatMul", [total, zero])]), ["N", 8])


def identities(net: Net, n: int):
    """Half of them in a chain, half on one value."""
    x = net.input("x", ["N", 8])
    for _ in range(n // 2):
        x = net.node("Identity", [x])
    ends = [net.node("Identity", [x]) for _ in range(n // 2)]
    net.output(net.node("Sum", ends), ["N", 8])


def shapes(net: Net, n: int):
    """What exporters write around a Reshape, again and again."""
    x = net.input("x", ["N", 8])
    zero, one, eight = (net.weight([1], [v], net.int64) for v in (0, 1, 8))
    for _ in range(n // 6):
        shape = net.node("Shape", [x])
        batch = net.node("Slice", [shape, zero, one])
        double = net.node("Mul", [batch, eight])
        half = net.node("Div", [double, eight])
        x = net.node("Relu", [net.node("Reshape", [x, net.node("Concat", [half, eight], axis=0)])])
    net.output(x, ["N", 8])


def views(net: Net, n: int):
    """A chain of reshapes, each of which is read by others too."""
    x = net.input("x", ["N", 8])
    flat, square = net.weight([2], [-1, 4], net.int64), net.weight([2], [-1, 8], net.int64)
    ends = []
    for i in range(n // 2):
        x = net.node("Reshape", [x, square if i % 2 else flat])
        if i % 2:
            ends.append(net.node("Sin", [x]))
    net.output(net.node("Sum", ends), ["N", 8])


def outputs(net: Net, n: int):
    x = net.input("x", ["N", 8])
    for i in range(n // 2):
        net.output(net.node("Neg", [net.node("Mul", [x, net.weight([1], [float(i)])])]), ["N", 8])


def inputs(net: Net, n: int):
    x = net.input("x", ["N", 8])
    for i in range(n):
        x = net.node("Add", [x, net.input(f"x{i}", [8])])
    net.output(x, ["N", 8])


def convolutions(net: Net, n: int):
    x = net.input("x", [1, 16, 4, 4])
    weight = net.weight([16, 16, 1, 1], [0.01] * 256)
    for i in range(n):
        x = net.node("Relu", [x]) if i % 2 else net.node("Conv", [x, weight])
    net.output(x, [1, 16, 4, 4])


def ifs(net: Net, n: int):
    """Towers of Ifs within Ifs; each branch has one node besides."""
    from onnx import GraphProto

    x = net.input("x", ["N", 8])
    flag = net.input("flag", [], net.bool)

    def tower(depth: int) -> GraphProto:
        graph = GraphProto(name=net.fresh())
        here = net.node("Exp", [x], graph)
        if depth > 0:
            inner = {"then_branch": tower(depth - 1), "else_branch": leaf()}
            here = net.node("If", [flag], graph, **inner)
        net.value(graph.output, here, ["N", 8])
        return graph

    def leaf() -> GraphProto:
        graph = GraphProto(name=net.fresh())
        net.value(graph.output, net.node("Neg", [x], graph), ["N", 8])
        return graph

    for _ in range(max(1, n // (3 * NEST))):
        x = net.node("If", [flag], then_branch=tower(NEST - 1), else_branch=leaf())
    net.output(x, ["N", 8])


def calls(net: Net, n: int):
    """Calls of as many functions as a thousandth of the nodes, ten nodes each."""
    x = net.input("x", ["N", 8])
    net.model.opset_import.add(domain="local", version=1)
    count = max(1, n // 1000)
    for k in range(count):
        f = net.model.functions.add(name=f"f{k}", domain="local")
        f.opset_import.add(domain="", version=OPSET)
        f.input.append("a0")
        f.output.append(f"a{CALL}")
        for i in range(CALL):
            node = f.node.add(op_type="Tanh" if i % 2 else "Neg")
            node.input.append(f"a{i}")
            node.output.append(f"a{i + 1}")
    for i in range(n // CALL):
        x = net.node(f"f{i % count}", [x], domain="local")
    net.output(x, ["N", 8])


KINDS = {
    "chain": chain,
    "branches": branches,
    "fan_out": fan_out,
    "concat": wide("Concat", axis=1),
    "sum": wide("Sum"),
    "max": wide("Max"),
    "initializers": initializers,
    "constants": constants,
    "identities": identities,
    "shapes": shapes,
    "views": views,
    "outputs": outputs,
    "inputs": inputs,
    "convolutions": convolutions,
    "ifs": ifs,
    "calls": calls,
}


def make(kind: str, nodes: int, path: Path):
    net = Net()
    KINDS[kind](net, nodes)
    path.write_bytes(net.model.SerializeToString())


def feeds_of(session) -> dict:
    import numpy as np

    feeds = {}
    for i in session.get_inputs():
        dims = [d if isinstance(d, int) else 2 for d in i.shape]
        feeds[i.name] = np.ones(dims, bool if "bool" in i.type else np.float32)
    return feeds


def peak_bytes() -> int:
    """Of this process since it began; what getrusage says includes the one that started it."""
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith("VmHWM:"):
            return int(line.split()[1]) * 1024
    return 0


def measure(engine: str, path: str) -> dict:
    """In a process of its own: seconds and bytes."""
    ort = __import__(engine)
    options = ort.SessionOptions()
    options.intra_op_num_threads = 1
    options.inter_op_num_threads = 1
    options.log_severity_level = 3
    before, start = peak_bytes(), time.perf_counter()
    session = ort.InferenceSession(path, options, providers=["CPUExecutionProvider"])
    load = time.perf_counter() - start
    feeds = feeds_of(session)
    times = []
    for _ in range(4):
        start = time.perf_counter()
        session.run(None, feeds)
        times.append(time.perf_counter() - start)
    return {"load": load, "first": times[0], "steady": min(times[1:]), "bytes": peak_bytes() - before}


def in_process(engine: str, path: Path, limit: float) -> dict | None:
    command = [sys.executable, __file__, "--measure", engine, str(path)]
    try:
        run = subprocess.run(command, capture_output=True, text=True, timeout=limit)
    except subprocess.TimeoutExpired:
        return None
    if run.returncode != 0:
        print(
            (run.stderr.strip().splitlines() or [f"exit status {run.returncode}"])[-1][:200], file=sys.stderr
        )
        return None
    return json.loads(run.stdout)


def growth(rows: dict[int, dict]) -> str:
    """The largest power of the size by which a cost grows between the two largest sizes."""
    if len(rows) < 2 or max(rows) <= 10_000:
        return ""
    half, whole = sorted(rows)[-2:]
    worst = max(
        math.log(rows[whole][what] / max(rows[half][what], least * half)) / math.log(whole / half)
        for what, least in (("load", 1e-7), ("first", 1e-7), ("steady", 2e-8), ("bytes", 64))
    )
    return f"{worst:.1f}" + (" NOT LINEAR" if worst > MOST_GROWTH else "")


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--kinds", nargs="+", default=list(KINDS), choices=list(KINDS))
    parser.add_argument("--sizes", nargs="+", type=int, default=list(SIZES))
    parser.add_argument("--engines", nargs="+", default=list(ENGINES), choices=ENGINES)
    parser.add_argument("--limit", type=float, default=60)
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--write", metavar="FOLDER", help="only write the models")
    parser.add_argument("--measure", nargs=2, metavar=("ENGINE", "MODEL"), help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.measure:
        print(json.dumps(measure(*args.measure)))
        return
    results = []
    if not args.json:
        print(
            f"{'kind':14}{'nodes':>8}  {'engine':12}{'load':>10}{'first':>10}{'steady':>10}  us a node {'bytes':>8}"
        )
    with tempfile.TemporaryDirectory() as folder:
        for kind in args.kinds:
            rows = {engine: {} for engine in args.engines}
            slow = set()
            for nodes in sorted(args.sizes):
                path = Path(args.write or folder) / f"{kind}_{nodes}.onnx"
                make(kind, nodes, path)
                for engine in () if args.write else args.engines:
                    if engine in slow:
                        continue
                    bring_memory(nodes * MEMORY_OF_A_NODE)
                    row = in_process(engine, path, args.limit)
                    if row is None:
                        slow.add(engine)
                        if not args.json:
                            print(
                                f"{kind:14}{nodes:8}  {engine:12} failed or over {args.limit:g} s", flush=True
                            )
                        continue
                    rows[engine][nodes] = row
                    results.append({"kind": kind, "nodes": nodes, "engine": engine, **row})
                    if not args.json:
                        cost = "".join(f"{row[k] / nodes * 1e6:10.2f}" for k in ("load", "first", "steady"))
                        text = growth(rows[engine]) if nodes == max(args.sizes) else ""
                        print(
                            f"{kind:14}{nodes:8}  {engine:12}{cost}{'':12}{row['bytes'] / nodes:8.0f}  {text}",
                            flush=True,
                        )
                if not args.write:
                    os.unlink(path)
    if args.json:
        print(json.dumps(results, indent=1))


if __name__ == "__main__":
    main()
