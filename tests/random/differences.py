# SPDX-License-Identifier: Apache-2.0
"""The reviewed list of differences from onnxruntime and from the onnx evaluator: differences.txt."""

from dataclasses import dataclass
from pathlib import Path


@dataclass
class Difference:
    peer: str  # onnxruntime, onnx
    verb: str  # differs, refuses, accepts
    labels: list[str]  # operators, perhaps with a version: Softmax or Softmax-13; or * for any
    conditions: list[
        str
    ]  # each is a note of the case, key=one,other for either; or "why:TEXT" of the message
    reason: str


def read() -> list[Difference]:
    path = Path(__file__).with_name("differences.txt")
    found = []
    for line in path.read_text().splitlines():
        if not line.strip() or line.startswith("#"):
            continue
        head, _, reason = line.partition(" | ")
        peer, verb, label, *rest = head.split(None, 3)
        conditions = [c.strip() for c in rest[0].split(";")] if rest else []
        if not reason.strip():
            raise ValueError(f"{path.name}: no reason in '{line}'")
        found.append(Difference(peer, verb, label.split(","), conditions, reason.strip()))
    return found


def explains(known: list[Difference], case, finding) -> bool:
    peer, _, verb = finding.kind.partition(" ")
    labels = {case.label.split("-")[0], case.label, "*"}
    return any(
        d.peer == peer
        and d.verb == verb
        and labels & set(d.labels)
        and all(holds(c, case.notes, finding.why) for c in d.conditions)
        for d in known
    )


def holds(condition: str, notes: list[str], why: str) -> bool:
    if condition.startswith("why:"):
        return condition[4:] in why
    key, equals, values = condition.rpartition("=")
    return any(key + equals + value in notes for value in values.split(","))
