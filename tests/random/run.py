# SPDX-License-Identifier: Apache-2.0
"""Random nodes and small graphs: cpu beside the reference, both beside their float64 evaluation and onnxruntime.

python tests/random/run.py --count 3000             by default node, graph and wrong in turn
python tests/random/run.py --kind mutant --count 3000    official cases with some of what they say changed
python tests/random/run.py --kind node --seed 7 --case 1234    one case again, with model, inputs and results
A case is decided by seed, kind, number and --ops alone. Workers run many cases in a row; the parent restarts one that
crashed or hung and names the case. Findings go to --findings: model.onnx, inputs.npz and why.txt each.
"""

import argparse
import json
import mmap
import os
import re
import resource
import select
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
KINDS = ("node", "graph", "wrong")
HANG_SECONDS = 10
LONG_SECONDS = (
    120  # for a process and its imports on a busy machine, and for ten evaluations of a thousand turns
)
MEMORY = 6 << 30  # address space of a worker
GROWTH_MB = 400  # of resident memory over a block of cases
STAGES = ("make", "reference", "cpu", "float64", "onnxruntime", "onnx", "between", "start")
LEVELS = ("baseline", "avx2", "avx512")


def level_of(number: int, levels: list[str]) -> str:
    import cases

    return levels[number // cases.BLOCK % len(levels)]


def available_levels() -> list[str]:
    import sardonyx

    best = sardonyx.explain(ROOT / "models" / "digits" / "digits.onnx")["isa"]
    return list(LEVELS[: LEVELS.index(best) + 1]) if best in LEVELS else [best]


# The worker: lines "kind first last" come in, findings go out as lines of JSON


def worker(args) -> None:
    import cases
    import differences
    import judge

    if "ASAN_OPTIONS" not in os.environ:  # the address sanitizer maps terabytes
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    board = mmap.mmap(os.open(args.worker, os.O_RDWR), 4096)
    known = differences.read()

    def stage(name: str) -> None:
        board[8] = STAGES.index(name)

    for line in sys.stdin:
        kind, first, last = line.split()
        for number in range(int(first), int(last)):
            board[:9] = number.to_bytes(8, "little") + bytes([0])
            case = cases.make(args.seed, kind, number, args.ops)
            sample = number % 20 == 0
            for finding in judge.judge(case, stage, not args.no_onnxruntime, sample):
                # What a peer cannot do is its own affair.
                if finding.kind.endswith("refuses") or differences.explains(known, case, finding):
                    print(json.dumps({"known": finding.kind}), flush=True)
                    continue
                entry = {"case": number, "label": case.label, "kind": finding.kind, "why": finding.why}
                print(json.dumps(entry | {"graph": case.spec is None}), flush=True)
            stage("between")
        rss = int(open("/proc/self/statm").read().split()[1]) * 4096 >> 20
        print(json.dumps({"done": int(last), "rss": rss}), flush=True)


class Worker:
    """A process of one vector level, fed with ranges of cases."""

    def __init__(self, args, level: str) -> None:
        self.file = tempfile.NamedTemporaryFile(dir="/dev/shm" if os.path.isdir("/dev/shm") else None)
        self.file.write(bytes(4096))
        self.file.flush()
        self.board = mmap.mmap(self.file.fileno(), 4096)
        self.board[8] = STAGES.index("start")
        command = [sys.executable, __file__, "--worker", self.file.name, "--seed", str(args.seed)]
        if args.ops:
            command += ["--ops", ",".join(args.ops)]
        if args.no_onnxruntime:
            command.append("--no-onnxruntime")
        self.errors = tempfile.TemporaryFile()
        self.process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self.errors,
            env={**os.environ, "SARDONYX_ISA": level},
        )
        self.buffer = b""
        self.seen = (0, -1)
        self.since = time.monotonic()
        self.rss = None

    def ask(self, kind: str, first: int, last: int) -> None:
        self.job = (kind, first, last)
        self.since, self.seen = time.monotonic(), (first, -1)
        self.process.stdin.write(f"{kind} {first} {last}\n".encode())
        self.process.stdin.flush()

    def where(self) -> tuple[int, int]:
        return int.from_bytes(self.board[:8], "little"), self.board[8]

    def lines(self) -> list[dict]:
        data = os.read(self.process.stdout.fileno(), 1 << 16)
        self.buffer += data
        *whole, self.buffer = self.buffer.split(b"\n")
        return [json.loads(line) for line in whole]

    def stuck(self) -> bool:
        now = self.where()
        if now != self.seen:
            self.seen, self.since = now, time.monotonic()
        limit = LONG_SECONDS if STAGES[now[1]] in ("start", "float64") else HANG_SECONDS
        return time.monotonic() - self.since > limit

    def stop(self) -> None:
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()

    def last_words(self) -> str:
        self.errors.seek(0)
        lines = self.errors.read().decode(errors="replace").strip().splitlines()
        interesting = [
            line for line in lines if "ERROR" in line or "runtime error" in line or "Error" in line
        ]
        return (interesting or lines or [""])[-1]


class Campaign:
    def __init__(self, args) -> None:
        self.args = args
        self.levels = available_levels()
        self.findings: list[dict] = []
        self.known = Counter()
        self.done = 0
        self.crashes_of_peers = 0
        self.start = time.monotonic()

    def jobs(self):
        import cases

        kinds = [self.args.kind] if self.args.kind else KINDS
        first, number = self.args.first, 0
        while True:
            for kind in kinds:
                last = first + cases.BLOCK
                if self.args.count is not None:
                    left = self.args.count - number
                    if left <= 0:
                        return
                    last = min(last, first + left)
                number += last - first
                yield kind, first, last
            first += cases.BLOCK
            if self.args.seconds and time.monotonic() - self.start > self.args.seconds:
                return

    def note(self, kind: str, entry: dict) -> None:
        if "known" in entry:
            self.known[entry["known"]] += 1
            return
        entry = {"of": kind, **entry, "level": level_of(entry["case"], self.levels)}
        self.findings.append(entry)
        if self.args.verbose:
            print(
                f"{kind} {entry['case']} {entry['label']}: {entry['kind']}: {entry['why'][:300]}", flush=True
            )
        keep(self.args, entry)

    def run(self) -> None:
        jobs, running = self.jobs(), {}
        free = list(range(self.args.jobs))
        waiting = []  # what is left of a range after a crash
        more = True
        pool: dict[tuple[int, str], Worker] = {}
        while True:
            while more and free:
                job = waiting.pop() if waiting else next(jobs, None)
                if job is None:
                    more = False
                    break
                slot = free.pop()
                level = level_of(job[1], self.levels)
                w = pool.get((slot, level))
                if w is None:
                    for key in [k for k in pool if k[0] == slot and len(pool) > 2 * self.args.jobs]:
                        pool.pop(key).stop()
                    w = pool[slot, level] = Worker(self.args, level)
                w.ask(*job)
                running[slot] = (w, level)
            if not running:
                if waiting:
                    more = True
                    continue
                break
            files = {w.process.stdout.fileno(): slot for slot, (w, _) in running.items()}
            ready, _, _ = select.select(list(files), [], [], 0.5)
            for fd in ready:
                slot = files[fd]
                w, level = running[slot]
                entries = w.lines()
                if (
                    not entries
                    and w.process.poll() is not None
                    or w.process.poll() is not None
                    and not entries
                ):
                    rest = self.died(w, f"ended with {w.process.wait()}")
                    running.pop(slot), free.append(slot), pool.pop((slot, level)).stop()
                    if rest:
                        waiting.append(rest)
                        more = True
                    continue
                for entry in entries:
                    if "done" in entry:
                        self.finish(w, entry)
                        running.pop(slot), free.append(slot)
                    else:
                        self.note(w.job[0], entry)
            for slot, (w, level) in list(running.items()):
                if w.stuck():
                    w.process.send_signal(signal.SIGKILL)
                    rest = self.died(w, "hangs")
                    running.pop(slot), free.append(slot), pool.pop((slot, level)).stop()
                    if rest:
                        waiting.append(rest)
                        more = True
        for w in pool.values():
            w.stop()

    def finish(self, w: Worker, entry: dict) -> None:
        kind, first, last = w.job
        self.done += last - first
        if w.rss is not None and entry["rss"] - w.rss > GROWTH_MB:
            why = f"resident memory grew from {w.rss} to {entry['rss']} MB in cases {first} to {last}"
            self.note(kind, {"case": first, "label": "", "kind": "memory", "why": why})
        w.rss = entry["rss"]

    def died(self, w: Worker, how: str):
        kind, first, last = w.job
        number, stage = w.where()
        name = STAGES[stage]
        if name == "start":
            raise SystemExit(f"a worker does not start: {w.last_words()}")
        self.done += number + 1 - first
        if name == "make":
            raise SystemExit(f"the generator failed at --kind {kind} --case {number}: {w.last_words()}")
        if name in ("onnxruntime", "onnx"):
            self.crashes_of_peers += 1
        else:
            import cases

            entry = {"case": number, "kind": "crash", "why": f"{how} in {name}. {w.last_words()}"}
            case = cases.make(self.args.seed, kind, number, self.args.ops)
            self.note(kind, entry | {"label": case.label, "graph": case.spec is None})
        return (kind, number + 1, last) if number + 1 < last else None

    def core(self, finding: dict) -> str:
        """The operators that remain of a graph when it is made smaller."""
        if not self.args.reduce or "onnx" in finding["kind"]:
            return "graph"
        import cases
        import reduce

        case = reduce.reduce(cases.make(self.args.seed, finding["of"], finding["case"], self.args.ops))
        return "+".join(node[0] for node in case.nodes[:6])

    def report(self) -> int:
        took = time.monotonic() - self.start
        print(
            f"\n{self.done} cases in {took:.0f} s, {self.done / max(took, 1e-9):.0f} a second, seed {self.args.seed}"
        )
        if self.crashes_of_peers:
            print(f"{self.crashes_of_peers} times a peer crashed or hung")
        if self.known:
            print("known differences:", ", ".join(f"{n} x {k}" for k, n in self.known.most_common()))
        groups: dict[tuple, list[dict]] = {}
        for f in self.findings:
            label = self.core(f) if f.get("graph") else f["label"]
            groups.setdefault((f["kind"], label, re.sub(r"[^a-zA-Z]+", " ", f["why"])[:60]), []).append(f)
        for (kind, label, _), alike in sorted(groups.items()):
            f = alike[0]
            print(
                f"{len(alike):5} x {kind:20} {label:24} e.g. --kind {f['of']} --case {f['case']}: {f['why'][:200]}"
            )
        print(f"{len(self.findings)} findings")
        return 1 if self.findings else 0


def keep(args, entry: dict) -> None:
    """model.onnx, inputs.npz and why.txt of a finding."""
    if not args.findings:
        return
    import cases
    import numpy as np

    folder = (
        args.findings
        / f"{entry['kind'].replace(' ', '_')}_{entry['label'] or 'x'}_{entry['of']}_{args.seed}_{entry['case']}"
    )
    folder.mkdir(parents=True, exist_ok=True)
    case = cases.make(args.seed, entry["of"], entry["case"], args.ops)
    (folder / "model.onnx").write_bytes(case.bytes())
    arrays = {name: a for name, a in case.net.feeds.items() if isinstance(a, np.ndarray)}
    np.savez(folder / "inputs.npz", **arrays)
    settings = f"threads {case.threads}, rules {'on' if case.rules else 'off'}, SARDONYX_ISA={entry['level']}"
    again = f"tests/random/run.py --seed {args.seed} --kind {entry['of']} --case {entry['case']}"
    if args.ops:
        again += f" --ops {','.join(args.ops)}"
    (folder / "why.txt").write_text(f"{entry['why']}\n{settings}\n{again}\n")


def show(args) -> int:
    """One case again, here, with everything about it."""
    import cases
    import judge
    import numpy as np
    import onnx

    np.set_printoptions(threshold=60, edgeitems=3, linewidth=110)
    case = cases.make(args.seed, args.kind, args.case, args.ops)
    if args.reduce:
        import reduce

        case = reduce.reduce(case)
    model = case.bytes()
    with tempfile.NamedTemporaryFile(suffix=".onnx") as file:
        file.write(model)
        file.flush()
        text = subprocess.run(
            [ROOT / "build" / "sardonyx", "text", file.name], capture_output=True, text=True
        ).stdout
    print(text or onnx.printer.to_text(onnx.load_from_string(model)))
    if args.save:
        Path(args.save).write_bytes(model)
    print(f"threads {case.threads}, rules {'on' if case.rules else 'off'}, {os.environ['SARDONYX_ISA']}")
    for name, value in case.net.feeds.items():
        print(f"{name} = {value!r}")
    print("reference:", value_or_error(judge.run_reference(case, model)), flush=True)
    print("cpu:", value_or_error(judge.run_cpu(case, model)), flush=True)
    if not args.no_onnxruntime and not case.wrong:
        print("onnxruntime:", value_or_error(judge.run_onnxruntime(case, model)), flush=True)
    found = judge.judge(case, lambda name: None, not args.no_onnxruntime, True)
    for finding in found:
        print(f"{finding.kind}: {finding.why}")
    return 1 if found else 0


def value_or_error(answer) -> str:
    return answer.error if answer.values is None else repr(answer.values)


def arguments():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--kind", choices=(*KINDS, "mutant"))
    parser.add_argument("--case", type=int, help="only this one, with everything printed; needs --kind")
    parser.add_argument("--first", type=int, default=0, help="number of the first case")
    parser.add_argument("--count", type=int, help="how many cases")
    parser.add_argument("--seconds", type=float, help="as many as fit")
    parser.add_argument(
        "--ops", type=lambda text: text.split(","), help="only these operators, as in Add,Conv"
    )
    parser.add_argument("--no-onnxruntime", action="store_true", help="without peers")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--findings", type=Path, help="a folder for what is found")
    parser.add_argument("--verbose", action="store_true", help="each finding as it comes")
    parser.add_argument("--save", help="with --case: writes the model there")
    parser.add_argument("--reduce", action="store_true", help="a smaller model that fails alike")
    parser.add_argument("--worker", help=argparse.SUPPRESS)
    return parser.parse_args()


def main() -> int:
    args = arguments()
    if args.worker:
        worker(args)
        return 0
    if args.case is not None:
        if not args.kind:
            sys.exit("--case needs --kind")
        if "SARDONYX_ISA" not in os.environ:
            level = subprocess.run(
                [sys.executable, "-c", f"import sys; sys.path.insert(0, {str(Path(__file__).parent)!r}); import run; print(run.level_of({args.case}, run.available_levels()))"],
                capture_output=True, text=True, check=True,
            ).stdout.strip()  # fmt: skip
            os.environ["SARDONYX_ISA"] = level
        return show(args)
    if args.count is None and args.seconds is None:
        args.count = 3000
    campaign = Campaign(args)
    campaign.run()
    return campaign.report()


if __name__ == "__main__":
    sys.exit(main())
