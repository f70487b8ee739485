# SPDX-License-Identifier: Apache-2.0
"""Hostile models: an error that names the thing or the right numbers, within two seconds of processor time and 500 MB,
with the cpu provider, without rules, and by the operators' own definitions. Never a signal."""

import os
from dataclasses import replace

import numpy as np
import pytest
from hostile_models import CASES
from hostile_models.build import CONDITION, in_a_branch

SLOWER = 10 if os.environ.get("SARDONYX_SANITIZED") else 1
WAYS = {
    "cpu": {},
    "plain": {"rules": False},
    "reference": {"rules": False, "providers": ["reference"]},
}


def same(got, wanted):
    if isinstance(wanted, list):
        return isinstance(got, list) and len(got) == len(wanted) and all(map(same, got, wanted))
    got, wanted = np.asarray(got), np.asarray(wanted)
    if got.shape != wanted.shape or (wanted.dtype.kind not in "OU" and got.dtype != wanted.dtype):
        return False
    if wanted.dtype.kind == "f":
        return np.allclose(got, wanted, rtol=1e-4, atol=1e-5, equal_nan=True)
    return bool(np.all(got == wanted))


def shortened(what):
    text = str(what)
    return text if len(text) < 2000 else text[:2000] + "…"


def complaint(case, answer):
    """What is wrong with an answer, or nothing."""
    kind, what = answer["kind"], answer["what"]
    if answer["cpu"] > 2 * SLOWER:
        return f"took {answer['cpu']:.1f} s, then {kind} {shortened(what)}"
    if answer["megabytes"] > 500 and SLOWER == 1:
        return f"took {answer['megabytes']:.0f} MB, then {kind} {shortened(what)}"
    if kind == "says" and any(c < " " and c != "\n" for c in what):
        return f"says control characters: {shortened(repr(what))}"
    if kind == "says" and case.says is not None:
        missing = [part for part in case.says if part not in what]
        return f"does not say {missing}: {shortened(what)}" if missing else None
    if kind == "gives" and case.gives is not None:
        return None if same(what, case.gives) else f"gives wrong numbers {shortened(what)}"
    return f"{kind} {shortened(what)}"


def test_there_are_enough():
    assert len(CASES) >= 110


@pytest.mark.parametrize("name", CASES)
def test_hostile_model(name, worker, tmp_path):
    case = CASES[name]
    path = tmp_path / "model.onnx"
    path.write_bytes(case.model)
    wrong = {}
    for way, more in WAYS.items():
        job = {"path": str(path), "feeds": case.feeds, "action": case.action, "options": more | case.options}
        if found := complaint(case, worker(job)):
            wrong[way] = found
    assert not wrong, "\n".join(f"{way}: {found}" for way, found in wrong.items())


IN_BRANCHES = {name: in_a_branch(case.model) for name, case in CASES.items() if case.action == "run"}


@pytest.mark.parametrize("name", [name for name, model in IN_BRANCHES.items() if model])
def test_hostile_model_in_a_branch(name, worker, tmp_path):
    """What is checked at load elsewhere is answered by the run there, perhaps in other words; what only a declaration
    contradicts may pass. Never a signal, never wrong numbers."""
    case = CASES[name]
    path = tmp_path / "model.onnx"
    path.write_bytes(IN_BRANCHES[name])
    feeds = case.feeds | {CONDITION: np.array(True)}
    wrong = {}
    for way, more in WAYS.items():
        answer = worker({"path": str(path), "feeds": feeds, "action": "run", "options": more | case.options})
        gives = answer["what"] if case.gives is None else case.gives
        if found := complaint(replace(case, says=(), gives=gives), answer):
            wrong[way] = found
    assert not wrong, "\n".join(f"{way}: {found}" for way, found in wrong.items())
