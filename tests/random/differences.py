# SPDX-License-Identifier: Apache-2.0
"""The reviewed list of differences from onnxruntime and from the onnx evaluator: differences.txt."""

from dataclasses import dataclass
from pathlib import Path


@dataclass
class Difference:
    peer: str  # onnxruntime, onnx
    verb: str  # differs, refuses, accepts
    label: str  # operator, perhaps with a version: Softmax or Softmax-13; or * for any
    conditions: list[str]  # each is a note of the case, or "why:TEXT" for words of the message
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
        found.append(Difference(peer, verb, label, conditions, reason.strip()))
    return found


def explains(known: list[Difference], case, finding) -> bool:
    peer, _, verb = finding.kind.partition(" ")
    operator = case.label.split("-")[0]
    for d in known:
        if d.peer != peer or d.verb not in (verb, "*") or d.label not in (operator, case.label, "*"):
            continue
        if all(c[4:] in finding.why if c.startswith("why:") else c in case.notes for c in d.conditions):
            return True
    return False
