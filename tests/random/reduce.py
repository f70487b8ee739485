# SPDX-License-Identifier: Apache-2.0
"""Makes a failing case smaller: one output, then every node that can be replaced by what it computed, in processes of
their own, because a case may crash."""

import copy
import json
import os
import select
import signal

import judge
import numpy as np
from cases import Case

import sardonyx

SECONDS = 12


def verdict(case: Case) -> str:
    """The kind of the first finding; '' for none."""
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reader)
        os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
        try:
            found = judge.judge(case, lambda name: None, False, False)
            os.write(writer, json.dumps([f.kind for f in found[:1]]).encode())
        finally:
            os._exit(0)
    os.close(writer)
    ready, _, _ = select.select([reader], [], [], SECONDS)
    answer = os.read(reader, 4096) if ready else b""
    os.close(reader)
    if not ready:
        os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    if not answer:
        return "crash"
    return "".join(json.loads(answer))


def prune(case: Case) -> None:
    """Drops nodes, feeds and constants that no output needs; what bodies use stays."""
    net = case.net
    needed, kept = set(net.outputs), []
    for node in reversed(net.nodes):
        if needed & set(node[3]):
            kept.append(node)
            needed |= set(node[2]) | inner_names(node[4])
    net.nodes = kept[::-1]
    net.feeds = {name: a for name, a in net.feeds.items() if name in needed}
    net.constants = {name: a for name, a in net.constants.items() if name in needed}


def inner_names(attrs: dict) -> set[str]:
    return {name for g in attrs.values() if hasattr(g, "node") for n in g.node for name in n.input}


def with_outputs(case: Case, outputs: list[str]) -> Case:
    smaller = copy.deepcopy(case)
    smaller.net.outputs = outputs
    prune(smaller)
    return smaller


def without_node(case: Case, at: int) -> Case | None:
    """Feeds what a node would have computed."""
    names = [name for name in case.net.nodes[at][3] if name]
    if set(names) & set(case.net.outputs):
        return None
    probe = with_outputs(case, names)
    try:
        values = sardonyx.load(probe.bytes(), providers=["reference"], threads=1, rules=False).session.run(
            None, probe.net.feeds
        )
    except Exception:
        return None
    if not all(isinstance(v, np.ndarray) for v in values):
        return None
    smaller = copy.deepcopy(case)
    del smaller.net.nodes[at]
    for name, value in zip(names, values, strict=True):
        smaller.net.feeds[name] = value
        smaller.net.shapes[name] = (
            list(value.shape) if case.net.shapes.get("fixed") else [f"{name}_{i}" for i in range(value.ndim)]
        )
    prune(smaller)
    return smaller


def reduce(case: Case) -> Case:
    kind = verdict(case)
    if not kind:
        return case
    for node in case.net.nodes:
        for name in node[3]:
            if name and verdict(smaller := with_outputs(case, [name])) == kind:
                case = smaller
                break
        else:
            continue
        break
    at = 0
    while at < len(case.net.nodes):
        smaller = without_node(case, at)
        if smaller and verdict(smaller) == kind:
            case, at = smaller, 0
        else:
            at += 1
    for change in ({"threads": 1}, {"rules": False}, {"rules": True}):
        simpler = copy.deepcopy(case)
        simpler.__dict__.update(change)
        if simpler.__dict__ != case.__dict__ and verdict(simpler) == kind:
            case = simpler
    return case
