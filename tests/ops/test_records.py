# SPDX-License-Identifier: Apache-2.0
"""Every operator record beside onnx.defs: versions, inputs, outputs, type constraints, attributes and defaults."""

import json
import os
import subprocess
from pathlib import Path

import onnx
import onnx.defs

ROOT = Path(__file__).resolve().parents[2]
PROGRAM = Path(os.environ.get("SX_BUILD", ROOT / "build/release")) / "tests/ops/sx_dump_ops"
OURS_ALONE = ("sx", "sx.legacy")
# Marked as deprecated, but files have it and it can be said in the next version.
STILL_READ = {("GroupNormalization", 18)}
# The default is a list, which the evaluation holds.
LIST_DEFAULTS = {("RNN", "activations")}


def records() -> list[dict]:
    return json.loads(subprocess.run([PROGRAM], capture_output=True, check=True, text=True).stdout)


def param(p) -> dict:
    option = p.option.name
    return {
        "name": p.name,
        "type": p.type_str,
        "option": option,
        "same": p.is_homogeneous if option == "Variadic" else True,
        "least": p.min_arity if option == "Variadic" else 1,
    }


def default(attribute):
    proto = attribute.default_value
    if not proto.name:
        return None
    value = onnx.helper.get_attribute_value(proto)
    return value.decode() if isinstance(value, bytes) else value


def attributes(schema) -> dict:
    return {a.name: (a.type.name, bool(a.required), default(a)) for a in schema.attributes.values()}


def types(schema) -> dict:
    used = {p.type_str for p in list(schema.inputs) + list(schema.outputs)}
    return {
        t.type_param_str: set(t.allowed_type_strs)
        for t in schema.type_constraints
        if t.type_param_str in used
    }


def close(a, b) -> bool:
    if isinstance(a, float) and isinstance(b, int | float):
        return abs(a - b) <= 1e-6 * max(1.0, abs(a))
    return a == b


def differences(schema, record: dict) -> list[str]:
    where = f"{schema.domain or 'ai.onnx'}.{schema.name}-{schema.since_version}"
    if schema.deprecated and (schema.name, schema.since_version) not in STILL_READ:
        return [] if record["removed"] else [f"{where}: was removed"]
    found = []
    for side in ("inputs", "outputs"):
        theirs = [param(p) for p in getattr(schema, side)]
        ours = record[side]
        if theirs != ours:
            found.append(f"{where}: {side} {ours}, onnx has {theirs}")
    theirs, ours = types(schema), {k: set(v) for k, v in record["types"].items()}
    for name in sorted(theirs.keys() | ours.keys()):
        a, b = theirs.get(name, set()), ours.get(name, set())
        if a != b:
            found.append(f"{where}: type {name} lacks {sorted(a - b)}, has too much {sorted(b - a)}")
    theirs = attributes(schema)
    ours = {a["name"]: (a["kind"], a["required"], a["default"]) for a in record["attributes"]}
    for name in sorted(theirs.keys() | ours.keys()):
        a, b = theirs.get(name), ours.get(name)
        if (schema.name, name) in LIST_DEFAULTS and a and b:
            a, b = a[:2] + (None,), b[:2] + (None,)
        if a is None or b is None or a[:2] != b[:2] or not close(a[2], b[2]):
            found.append(f"{where}: attribute {name} is {b}, onnx has {a}")
    return found


def test_records_are_as_onnx_says():
    ours: dict[tuple[str, str], dict[int, dict]] = {}
    for r in records():
        ours.setdefault((r["domain"], r["name"]), {})[r["since"]] = r
    found, versions, operators = [], 0, set()
    theirs: dict[tuple[str, str], dict[int, object]] = {}
    for s in onnx.defs.get_all_schemas_with_history():
        theirs.setdefault((s.domain, s.name), {})[s.since_version] = s
    for key, by_version in sorted(ours.items()):
        if key[0] in OURS_ALONE:
            continue
        if key not in theirs:
            found.append(f"{key}: onnx has no such operator")
            continue
        operators.add(key)
        for since in sorted(by_version.keys() | theirs[key].keys()):
            if since not in by_version:
                found.append(f"{key[1]}-{since} is missing")
            elif since not in theirs[key]:
                found.append(f"{key[1]}-{since} does not exist")
            else:
                versions += 1
                found += differences(theirs[key][since], by_version[since])
    print(f"compared {len(operators)} operators in {versions} versions; onnx has {len(theirs)} operators")
    assert not found, "\n".join(found)
