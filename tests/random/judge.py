# SPDX-License-Identifier: Apache-2.0
"""Runs a case in every way and says what is wrong: cpu and reference against the float64 evaluation, each other,
and onnxruntime. Where results differ by more than a few units in the last place, the float64 evaluation of slightly
disturbed inputs says how much a rounding error may cost there."""

import logging
import sys
from collections.abc import Callable
from dataclasses import dataclass, replace

import ml_dtypes
import numpy as np
import onnx.shape_inference
from cases import Case, extreme
from draw import FLOATS
from recipe import ABSOLUTE, OVERFLOWING, SUMS

import sardonyx
from net import CANCELLING, ROUGH

MEMORY_LIMIT = 64 << 20  # of a session: what is larger takes too long to compare
UNITS = 8  # in the last place: close without further questions
PEER_RELATIVE, PEER_FLOOR = 3e-5, 1e-5  # how well peers must agree, the second of the largest result
ROUGH_IN_PEERS = frozenset({"Sigmoid", "Tanh"})  # right to a unit of 1, not of what they give
DISTURBED = 8  # evaluations, every second one with all steps the other way
MUTANT_SECONDS = 2.0  # of a run
ROUNDED = 1e-5  # of the largest number of a mutant's result, whose inner sums nobody disturbs
DRIFT = 1e-4  # of the largest number of a result of many turns
MANY_DISTURBED = 64  # before a difference is believed
# Added in float64, they leave multiples of 2^-23: what cancels there is zero.
GRID = [("Add", 1.5 * 2**29), ("Add", -1.5 * 2**29)]
SLACK = 20  # times what a disturbance of one unit changes


@dataclass
class Finding:
    kind: str  # crash, hang, numbers, error, refused, onnxruntime …
    why: str


@dataclass
class Answer:
    values: list | None
    error: str = ""
    later: list | None = None  # for the same feed, after one of another size

    def __str__(self) -> str:
        return f"error: {self.error}" if self.values is None else "a result"


def answer(function: Callable[[], list]) -> Answer:
    try:
        return Answer(function())
    except Exception as error:  # whatever it is, it is the answer
        return Answer(None, str(error).strip() or repr(error))


class LeftOut(logging.Handler):
    """A session goes on without a provider that failed, and says so: here that is a finding."""

    def __init__(self) -> None:
        super().__init__()
        self.said = ""

    def emit(self, record: logging.LogRecord) -> None:
        if "is left out" in (message := record.getMessage()):
            self.said = message


left_out = LeftOut()
logging.getLogger("sardonyx").addHandler(left_out)
logging.getLogger("sardonyx").propagate = False


def run(case: Case, session) -> list:
    """A mutant may ask for more turns than anybody waits for."""
    options = sardonyx.RunOptions(MUTANT_SECONDS) if case.finished else None
    return session.run(None, case.net.feeds, options)


def run_cpu(case: Case, model: bytes) -> Answer:
    left_out.said = ""

    def load():
        return sardonyx.load(
            model, providers=["cpu"], threads=case.threads, rules=case.rules, memory_limit=MEMORY_LIMIT
        ).session

    later = None

    def runs() -> list:
        nonlocal later
        session = load()
        first, again = run(case, session), run(case, session)
        if not case.random and not all(map(identical, first, again)):
            raise AssertionError("a second run gave another result")
        if case.other is not None and not case.random:
            later, fresh = (answer(lambda s=s: s.run(None, case.other)) for s in (session, load()))
            told = (later.values is None) == (fresh.values is None)
            if not told or fresh.values and not all(map(identical, later.values, fresh.values)):
                raise AssertionError(f"another size: {later} after a run, {fresh} in a session of its own")
            later = session.run(
                None, case.net.feeds
            )  # by now perhaps in a program of its own, with other kernels
        return first

    found = answer(runs)
    found.later = later
    return found


def run_reference(case: Case, model: bytes) -> Answer:
    return answer(
        lambda: run(
            case,
            sardonyx.load(
                model, providers=["reference"], threads=1, rules=False, memory_limit=MEMORY_LIMIT
            ).session,
        )
    )


def run_onnxruntime(case: Case, model: bytes) -> Answer:
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    options.log_severity_level = 4
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    return answer(
        lambda: onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"]).run(
            None, case.net.feeds
        )
    )


def run_onnx(case: Case, model: bytes) -> Answer:
    from onnx.reference import ReferenceEvaluator

    def evaluate() -> list:
        with np.errstate(all="ignore"):
            return ReferenceEvaluator(model).run(None, case.net.feeds)

    return answer(evaluate)


# Comparison


def identical(a, b) -> bool:
    if isinstance(a, list) and isinstance(b, list):
        return len(a) == len(b) and all(map(identical, a, b))
    if isinstance(a, dict) or isinstance(b, dict) or a is None or b is None:
        return a == b
    a, b = np.asarray(a), np.asarray(b)
    if a.shape != b.shape or a.dtype != b.dtype:
        return False
    if a.dtype in FLOATS or a.dtype.kind == "c":
        a, b = wide(a), wide(b)
        return np.array_equal(a, b, equal_nan=True)
    return np.array_equal(a, b)


def wide(a: np.ndarray) -> np.ndarray:
    return a.astype(np.complex128 if a.dtype.kind == "c" else np.float64)


def epsilon(dtype) -> float:
    if dtype.kind == "c":
        return 1.2e-7 if dtype.itemsize == 8 else 2.3e-16
    return float(ml_dtypes.finfo(dtype).eps)


def flatten(values: list) -> list:
    """Arrays out of sequences and maps, so that places correspond; None stays."""
    flat = []
    for value in values:
        if isinstance(value, list):
            flat += [np.array(len(value)), *flatten(value)]
        elif isinstance(value, dict):
            flat += [np.array(list(value)), np.array(list(value.values()))]
        else:
            flat.append(value if value is None else np.asarray(value))
    return flat


def far_apart(a: np.ndarray, b: np.ndarray, dtype, tolerance=0.0) -> np.ndarray:
    """Where a is not b but for rounding to `dtype`; both wide."""
    eps = epsilon(dtype)
    with np.errstate(all="ignore"):
        least = (
            4 * float(ml_dtypes.finfo(dtype).tiny) if dtype.kind != "c" else 1e-37
        )  # denormals may be flushed
        near = np.abs(a - b) <= UNITS * eps * np.maximum(np.abs(a), np.abs(b)) + tolerance + least
        same = (a == b) | (np.isnan(a) & np.isnan(b))
        return ~(near | same)


def rounded(truth: np.ndarray, dtype) -> np.ndarray:
    """As the type can hold it: what is too large is infinite."""
    with np.errstate(all="ignore"):
        return wide(truth.astype(dtype)) if dtype in FLOATS and dtype.itemsize < 8 else wide(truth)


def mismatch(a, b, tolerance=None) -> str:
    """How a differs from b, the more exact one; '' if it does not."""
    if a is None or b is None:
        return (
            ""
            if a is b
            else f"{'nothing' if a is None else 'a value'} for {'nothing' if b is None else 'a value'}"
        )
    if a.shape != b.shape:
        return f"shape {list(a.shape)} for {list(b.shape)}"
    if a.dtype in FLOATS or a.dtype.kind == "c":
        if b.dtype not in FLOATS and b.dtype.kind != "c":
            return f"type {a.dtype} for {b.dtype}"
        x, y = wide(a), rounded(b, a.dtype)
        bad = far_apart(x, y, a.dtype, 0.0 if tolerance is None else tolerance)
        if bad.any() and tolerance is not None:
            bad &= ~np.isnan(tolerance)  # NaN: unstable there, anything may be right
            with np.errstate(all="ignore"):  # near the largest number, infinity is a rounding away
                limit = float(ml_dtypes.finfo(a.dtype).max) if a.dtype in FLOATS else np.inf
                edge = (
                    np.isinf(x)
                    & (np.sign(x) == np.sign(wide(b)))
                    & (np.abs(wide(b)) + tolerance >= limit * 0.99)
                )
                bad &= ~edge if a.dtype in FLOATS else True
    elif (a.dtype == object) != (b.dtype == object) and a.dtype.kind != "U":
        return f"type {a.dtype} for {b.dtype}"
    else:
        x, y = a, b
        bad = np.asarray(x != y)
        if tolerance is not None:
            bad = bad & ~np.isnan(tolerance)
    if not bad.any():
        return ""
    at = tuple(int(i[0]) for i in np.nonzero(bad)) if bad.ndim else ()
    return f"{x[at]!r} for {y[at]!r} at {list(at)}, {int(bad.sum())} of {bad.size} off"


def first_mismatch(a: list, b: list, tolerances: list | None = None) -> str:
    if len(a) != len(b):
        return f"{len(a)} values for {len(b)}"
    for i, (x, y) in enumerate(zip(a, b, strict=True)):
        if why := mismatch(x, y, tolerances[i] if tolerances else None):
            return f"output {i}: {why}"
    return ""


def case_epsilon(case: Case) -> float:
    """Of the coarsest floating-point type about."""
    arrays = [
        a for a in (*case.net.feeds.values(), *case.net.constants.values()) if isinstance(a, np.ndarray)
    ]
    return max(
        (epsilon(a.dtype) for a in arrays if a.dtype in FLOATS and a.dtype.itemsize > 1), default=2.0**-23
    )


def smallest(case: Case) -> float:
    """What may be lost where the coarsest type about is flushed to zero."""
    return 4 * float(np.finfo(np.float32).tiny) if case_epsilon(case) >= 2.0**-23 else 0.0


def disturb(random: np.random.Generator, arrays: dict, eps: float, several: bool, sign: float) -> dict:
    """Each number moves by a unit; before several nodes also by a unit of the tensor's mean, as sums would round."""
    changed = {}
    for name, a in arrays.items():
        if isinstance(a, np.ndarray) and a.dtype.kind == "c":
            with np.errstate(all="ignore"):
                a = (a * (1 + sign * eps * random.choice([-1.0, 1.0, 0.5], a.shape))).astype(a.dtype)
        elif isinstance(a, np.ndarray) and a.dtype in FLOATS and a.dtype.itemsize > 1:
            with np.errstate(all="ignore"):
                step = eps if a.dtype.itemsize >= 4 else float(ml_dtypes.finfo(a.dtype).eps)
                step *= sign
                way = random.choice([-1.0, 1.0, 0.5], a.shape)
                x = wide(a)
                moves = x * (step * way)
                if several and a.size and np.isfinite(mean := np.abs(x).mean()):
                    moves += step * mean * np.copysign(1.0, moves)  # the two never cancel
                x = x + moves
                a = x if a.dtype == np.float64 else x.astype(a.dtype)
        changed[name] = a
    return changed


def float_sums(case: Case) -> set[str]:
    """The results of CANCELLING nodes that are float32."""
    inferred = onnx.shape_inference.infer_shapes(case.net.model())
    floats = {
        v.name
        for v in (*inferred.graph.value_info, *inferred.graph.output)
        if v.type.tensor_type.elem_type == 1
    }
    return {name for node in case.nodes if node[0] in CANCELLING for name in node[3] if name in floats}


def tolerances_of(
    case: Case, truth: list, also: frozenset[str] = frozenset(), turns: int = DISTURBED
) -> list:
    """How far each element of the float64 evaluation moves when inputs, and in graphs what sums and functions make on
    the way, move by a unit; NaN where it jumps. `also`: operators that are rough, too."""
    eps = case_epsilon(case)
    spread = [np.zeros(t.shape) if t is not None else None for t in truth]
    several = len(case.nodes) > 1
    rough = ROUGH if case.spec is None else {case.spec.schema.name} & (ABSOLUTE | SUMS) | also
    nudges = (case.spec is None or case.has_tail) and not case.finished
    floats = float_sums(case) if nudges and case.spec is None else case.before_tail
    for turn in range(turns + nudges):
        random, sign = np.random.default_rng(turn // 2), 1.0 - turn % 2 * 2
        constants = disturb(random, case.net.constants, eps, several, sign)
        feeds = disturb(random, case.net.feeds, eps, several, sign)

        def steps(op: str, name: str, random=random, sign=sign) -> list:
            way = sign * eps * random.choice([-1.0, 1.0])
            return [("Add", 4 * way)] if op in rough else [("Mul", 1 + way)] if name in floats else []

        net = case.net.nudged(steps) if nudges else case.net
        if turn == turns:  # constants that would cancel are left alone
            net, constants, feeds = (
                case.net.nudged(lambda op, name: GRID if op in rough else []),
                {},
                case.net.feeds,
            )
        try:
            model = net.model(net.constants | constants).SerializeToString()
            moved = flatten(sardonyx.evaluate(model, feeds))
        except Exception:
            return unstable(truth)
        for i, (t, m) in enumerate(zip(truth, moved, strict=False)):
            if t is None:
                continue
            if m is None or m.shape != t.shape:
                spread[i] = np.full(t.shape, np.nan)
            elif t.dtype in FLOATS or t.dtype.kind == "c":
                with np.errstate(all="ignore"):
                    step = np.asarray(np.abs(wide(m) - wide(t)))
                    step[np.isnan(wide(m)) & np.isnan(wide(t)) | (wide(m) == wide(t))] = 0
                    step[np.isinf(step)] = np.nan
                    spread[i] = np.maximum(spread[i], step)  # NaN stays
            else:
                spread[i] = np.where(m != t, np.nan, spread[i])
            if case.spec is None and t.dtype in FLOATS:  # beyond the number itself all digits are rounding
                with np.errstate(all="ignore"):
                    spread[i] = np.where(spread[i] > np.maximum(np.abs(wide(t)), 1), np.nan, spread[i])
    floor = (4 * eps if case.absolute else 0.0) + smallest(case)
    floors = [floor + (ROUNDED * largest_of(t) if case.finished else 0.0) for t in truth]
    slack = SLACK * (10 if case.feeds_back else 1)
    if case.spec is not None and case.spec.schema.name in SUMS:
        spread = [evened(s) for s in spread]
    with np.errstate(all="ignore"):
        return [None if s is None else s * slack + f for s, f in zip(spread, floors, strict=True)]


def largest_of(t: np.ndarray | None) -> float:
    """Of the finite numbers."""
    if t is None or (t.dtype not in FLOATS and t.dtype.kind != "c"):
        return 0.0
    size = np.abs(wide(t))
    return float(np.max(size, where=np.isfinite(size), initial=0))


def evened(spread: np.ndarray | None) -> np.ndarray | None:
    """Disturbances of the parts of a sum may happen to cancel: no element is better than most of its tensor."""
    if spread is None or not spread.size or np.isnan(spread).all():
        return spread
    return np.maximum(spread, np.nanmedian(spread))


def compare(case: Case, model: bytes, cpu: list, reference: list) -> tuple[list[Finding], list, list | None]:
    """Findings, the float64 evaluation, and tolerances if they were needed."""
    if why := kinds_differ(cpu, reference):
        # A body that cannot take what is fed has no sizes, nor a turn.
        loops = case.wrong and any(node[0] == "Loop" for node in case.nodes)
        if loops and only_empty_shapes_differ(cpu, reference):
            return [], [], None
        return [Finding("numbers", f"cpu: {why}")], [], None
    if case.by_type:
        why = first_mismatch(flatten(cpu), flatten(reference))
        return ([Finding("numbers", f"cpu: {why}")] if why else []), flatten(reference), None
    exact = answer(lambda: sardonyx.evaluate(model, case.net.feeds))
    if exact.values is None:  # of a mutant a node that nobody reads is evaluated, too
        failed = Finding("truth", f"float64 evaluation: {exact.error}")
        return [] if case.finished else [failed], [], None
    cpu, reference, truth = flatten(cpu), flatten(reference), flatten(exact.values)
    if case.wrong and len(truth) == len(
        reference
    ):  # a body that cannot take what is fed has no sizes, nor a turn
        empty = [
            t is not None and r is not None and not t.size + r.size
            for t, r in zip(truth, reference, strict=True)
        ]
        truth = [t.reshape(r.shape) if e else t for t, r, e in zip(truth, reference, empty, strict=True)]
    if not first_mismatch(cpu, reference) and not first_mismatch(reference, truth):
        return [], truth, None
    if len(truth) != len(reference) or any(
        (t is None) != (r is None) or (t is not None and t.shape != r.shape)
        for t, r in zip(truth, reference, strict=True)
    ):
        why = first_mismatch(cpu, reference)
        return ([Finding("numbers", f"cpu: {why}")] if why else []), truth, None
    tolerances = tolerances_of(case, truth)
    # What follows a node makes of an infinity what it likes.
    overflowed = case.spec is not None and (case.spec.schema.name in OVERFLOWING or case.has_tail)
    overflowed = overflowed and not_finite([*cpu, *reference, *truth])
    if overflowed or case.overflows and any_extreme(case):
        return [], truth, unstable(truth)
    findings = beyond(tolerances, cpu, reference, truth)
    if findings and case.spec is None:
        # A jump of few elements, as behind the sign of a zero, wants more tries.
        tolerances = tolerances_of(case, truth, turns=MANY_DISTURBED)
        findings = beyond(tolerances, cpu, reference, truth)
        if not first_mismatch(cpu, reference, tolerances) and (
            case.finished or drifts(case, tolerances, cpu, truth)
        ):
            findings = []  # of mutants only the feeds were disturbed
    if len(findings) == 2 and not first_mismatch(cpu, reference):
        findings = [Finding("both", findings[0].why.replace("cpu", "cpu and reference", 1))]
    return findings, truth, tolerances


def drifts(case: Case, tolerances: list, values: list, truth: list) -> bool:
    """Is it no more than what hundreds of turns add up?"""
    turning = any(node[0] in ("Loop", "Scan") for node in case.nodes)
    wider = [None if s is None else s + DRIFT * largest_of(t) for s, t in zip(tolerances, truth, strict=True)]
    return turning and not first_mismatch(values, truth, wider)


def beyond(tolerances: list, cpu: list, reference: list, truth: list) -> list[Finding]:
    whys = {
        name: first_mismatch(values, truth, tolerances)
        for name, values in (("cpu", cpu), ("reference", reference))
    }
    return [Finding("numbers", f"{name}: {why}") for name, why in whys.items() if why]


def any_extreme(case: Case) -> bool:
    return any(map(extreme, (*case.net.feeds.values(), *case.net.constants.values())))


def not_finite(values: list) -> bool:
    return any(v is not None and v.dtype in FLOATS and not np.isfinite(wide(v)).all() for v in values)


def unstable(truth: list) -> list:
    return [None if t is None else np.full(t.shape, np.nan) for t in truth]


def kinds_differ(cpu: list, reference: list) -> str:
    a, b = flatten(cpu), flatten(reference)
    if len(a) != len(b):
        return f"{len(a)} values for {len(b)}"
    for i, (x, y) in enumerate(zip(a, b, strict=True)):
        if (x is None) != (y is None):
            return f"output {i}: nothing on one side"
        if x is not None and (x.dtype != y.dtype or x.shape != y.shape):
            return f"output {i}: {x.dtype}{list(x.shape)} for {y.dtype}{list(y.shape)}"
    return ""


def only_empty_shapes_differ(cpu: list, reference: list) -> bool:
    a, b = flatten(cpu), flatten(reference)
    return len(a) == len(b) and all(
        x is None
        and y is None
        or x is not None
        and y is not None
        and x.dtype == y.dtype
        and (x.shape == y.shape or x.size + y.size == 0)
        for x, y in zip(a, b, strict=True)
    )


def beside_peer(
    case: Case, model: bytes, ours: Answer, truth: list, tolerances, peer: str, theirs: Answer
) -> list[Finding]:
    if theirs.values is None and ours.values is None:
        return []
    if theirs.values is None:
        return [Finding(f"{peer} refuses", theirs.error.splitlines()[0])]
    if ours.values is None:
        return [Finding(f"{peer} accepts", ours.error.splitlines()[-1])]
    values = flatten(theirs.values)
    if case.random or any(t is not None and t.dtype.name not in KNOWN for t in truth):
        return []
    if not first_mismatch(values, truth):
        return []
    if tolerances is None:
        tolerances = tolerances_of(case, truth, ROUGH_IN_PEERS)
    elif case.has_tail:
        theirs_too = tolerances_of(case, truth, ROUGH_IN_PEERS)
        tolerances = [
            None if t is None else np.maximum(s, t) for s, t in zip(tolerances, theirs_too, strict=True)
        ]
    tolerances = [
        None if t is None else s + peer_tolerance(case, t) for s, t in zip(tolerances, truth, strict=True)
    ]
    why = first_mismatch(values, truth, tolerances)
    if why and peer == "onnxruntime":
        third = run_onnx(case, model)
        if third.values is not None and not first_mismatch(flatten(third.values), truth, tolerances):
            why += "; onnx's evaluator agrees with us"
    return [Finding(f"{peer} differs", why)] if why else []


def peer_tolerance(case: Case, truth: np.ndarray) -> np.ndarray:
    if truth.dtype not in FLOATS and truth.dtype.kind != "c":
        return np.zeros(truth.shape)
    with np.errstate(all="ignore"):
        size = np.abs(wide(truth))
        size = np.where(np.isfinite(size), size, 0)
        coarse = max(case_epsilon(case) / 2.0**-23, 1)
        lost = LOST_BY_ONNXRUNTIME.get(case.label.split("-")[0])
        if lost:  # what nodes behind it make of that is not known
            rest = np.full(size.shape, np.nan) if case.has_tail else lost(case, size)
        else:
            rest = 0
        return coarse * (PEER_RELATIVE * size + PEER_FLOOR * largest_of(truth) + 1e-7) + rest


def running_sums(case: Case, size: np.ndarray) -> np.ndarray:
    """onnxruntime takes the windows of LRN as differences of sums over all channels, which have rounded before."""
    x = wide(case.spec.inputs[0])
    attrs = {"alpha": 1e-4, "beta": 0.75, "bias": 1.0} | case.spec.attrs
    share = attrs["alpha"] / attrs["size"]
    lost = 4 * epsilon(case.spec.inputs[0].dtype) * x.shape[1] * (x * x).sum(1, keepdims=True)
    return size * attrs["beta"] * share * lost / (attrs["bias"] + share * x * x)


def difference_of_squares(case: Case, size: np.ndarray) -> np.ndarray:
    """onnxruntime takes the variance of GroupNormalization as the mean square less the square of the mean."""
    x, attrs = wide(case.spec.inputs[0]), {"epsilon": 1e-5} | case.spec.attrs
    groups = x.reshape(x.shape[0] * attrs["num_groups"], -1)
    lost = 4 * epsilon(case.spec.inputs[0].dtype) * (groups * groups).mean(1)
    share = lost / (groups.var(1) + attrs["epsilon"])
    before_bias = size + np.abs(wide(case.spec.inputs[2])).max(initial=0)
    return before_bias * np.repeat(share, groups.shape[1]).reshape(x.shape)


LOST_BY_ONNXRUNTIME = {"LRN": running_sums, "GroupNormalization": difference_of_squares}


def judge(case: Case, stage: Callable[[str], None], peers: bool, sample: bool) -> list[Finding]:
    model = case.bytes()
    stage("reference")
    reference = run_reference(case, model)
    stage("cpu")
    cpu = run_cpu(case, model)
    if left_out.said:
        return [Finding("left out", left_out.said)]
    # Views and copies need different amounts.
    if any("of the limit of" in a.error or "deadline" in a.error for a in (cpu, reference)):
        return []
    for name, a in (("cpu", cpu), ("reference", reference)):
        if "the system has no memory" in a.error:
            return [Finding("unchecked memory", f"{name}: {a.error}")]
    if case.finished and cpu.values is not None and reference.values is None:
        # A node that nobody reads is run where there are no rules; what a file says of a late result is only found
        # out where nothing else is known of it.
        if run_cpu(replace(case, rules=False), model).values is None or "was inferred to" in reference.error:
            return []
    if (cpu.values is None) != (reference.values is None):
        return [Finding("error", f"cpu gives {cpu}; reference gives {reference}")]
    findings, truth, tolerances = [], [], None
    if cpu.values is not None:
        if case.random:
            why = kinds_differ(cpu.values, reference.values)
            return [Finding("numbers", f"cpu: {why}")] if why else []
        stage("float64")
        findings, truth, tolerances = compare(case, model, cpu.values, reference.values)
        if cpu.later is not None and not findings:
            findings, truth, tolerances = compare(case, model, cpu.later, reference.values)
            findings = [Finding(f.kind, f"after another size, {f.why}") for f in findings]
    elif "internal" in cpu.error[:40]:
        findings.append(Finding("internal", cpu.error))
    if findings or case.wrong or not peers:
        return findings
    if any(a.dtype.name not in KNOWN for a in case.net.feeds.values() if isinstance(a, np.ndarray)):
        theirs = Answer(None, "types")
    else:
        stage("onnxruntime")
        theirs = run_onnxruntime(case, model)
    if theirs.values is not None or not sample:
        if theirs.values is None and cpu.values is not None and "NOT_IMPLEMENTED" in theirs.error:
            return []
        return (
            []
            if theirs.error == "types"
            else beside_peer(case, model, cpu, truth, tolerances, "onnxruntime", theirs)
        )
    stage("onnx")
    return beside_peer(case, model, cpu, truth, tolerances, "onnx", run_onnx(case, model))


KNOWN = {
    "float16", "float32", "float64", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "bool", "object",
}  # fmt: skip
sys.setrecursionlimit(5000)
