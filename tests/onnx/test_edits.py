# SPDX-License-Identifier: Apache-2.0
"""What an edit changes in the bytes of a file: its own records and the lengths around them, nothing else. The file
has unknown fields in every kind of message and an order and padding that no library writes."""

import difflib

import numpy as np
import onnx
import pytest
from probe import group, msg, num, varint
from test_commands import EXPECTED, path, run, sardonyx  # noqa: F401


def read_varint(data, at):
    value = shift = 0
    while True:
        byte = data[at]
        value |= (byte & 0x7F) << shift
        at, shift = at + 1, shift + 7
        if byte < 0x80:
            return value, at


def records(data):
    """(field number, wire type, tag bytes, payload) of each record; a group is one with its end tag."""
    at = 0
    while at < len(data):
        begin = at
        key, at = read_varint(data, at)
        tag, kind = data[begin:at], key & 7
        if kind == 0:
            end = read_varint(data, at)[1]
        elif kind == 2:
            size, at = read_varint(data, at)
            end = at + size
        elif kind == 3:
            end = data.index(varint(key + 1), at) + len(varint(key + 1))
        else:
            end = at + (8 if kind == 1 else 4)
        yield key >> 3, kind, tag, data[at:end]
        at = end


def child_type(descriptor, number, kind):
    field = descriptor.fields_by_number.get(number)
    return field.message_type if kind == 2 and field is not None else None


def leaves(data, descriptor=onnx.ModelProto.DESCRIPTOR, place=""):
    """Everything in a file but the lengths, in order: where it is, its tag, its bytes."""
    out = []
    for number, kind, tag, payload in records(data):
        child = child_type(descriptor, number, kind)
        field = descriptor.fields_by_number.get(number)
        here = f"{place}.{field.name if field else number}".lstrip(".")
        out.append((here, tag, b"" if child else payload))
        if child:
            out += [*leaves(payload, child, here), (here, b"", b"end")]
    return out


def changes(was, now):
    """(removed, added): records, in order."""
    a, b = leaves(was), leaves(now)
    removed, added = [], []
    for kind, a0, a1, b0, b1 in difflib.SequenceMatcher(None, a, b, autojunk=False).get_opcodes():
        if kind != "equal":
            removed += [(place, data) for place, _, data in a[a0:a1]]
            added += [(place, data) for place, _, data in b[b0:b1]]
    return removed, added


def unusual(data, descriptor=onnx.ModelProto.DESCRIPTOR):
    """The same model: fields from last to first, lengths padded, unknown fields and a group in each message."""
    out = [group(777, num(1, 5)), num(500, 7)]
    for number, kind, tag, payload in sorted(records(data), key=lambda r: -r[0]):
        child = child_type(descriptor, number, kind)
        if child:
            payload = unusual(payload, child)
        out.append(tag + (varint(len(payload), 3) if kind == 2 else b"") + payload)
    return b"".join([*out, msg(501, b"kept\xff")])


UNKNOWN_PER_MESSAGE = 3


@pytest.fixture
def odd(path):  # noqa: F811
    data = unusual(path.read_bytes())
    path.write_bytes(data)
    assert np.array_equal(run(path), EXPECTED)
    assert sum("777" in place for place, *_ in leaves(data)) > 20
    return path


def unknown(data):
    return [leaf for leaf in leaves(data) if leaf[0].rsplit(".", 1)[-1].isdigit()]


@pytest.mark.parametrize(
    ("option", "old", "new", "times"),
    [
        ("--value", "h", "hidden", 4),
        ("--value", "h", "k", 4),
        ("--node", "first", "f", 1),
        ("--input", "x", "image", 2),
        ("--output-name", "y", "result", 2),
        ("--dim", "N", "batch", 3),
    ],
)
def test_rename(option, old, new, times, odd, tmp_path):
    out = tmp_path / "out.onnx"
    sardonyx("rename", odd, option, f"{old}={new}", "-o", out)
    was, now = odd.read_bytes(), out.read_bytes()
    removed, added = changes(was, now)
    assert [place for place, _ in removed] == [place for place, _ in added] and len(removed) == times
    assert {data for _, data in removed} == {old.encode()} and {data for _, data in added} == {new.encode()}
    assert unknown(was) == unknown(now)
    assert np.array_equal(run(out, "image" if option == "--input" else "x"), EXPECTED)


def test_rename_in_place(odd):
    was = odd.read_bytes()
    sardonyx("rename", odd, "--value", "h=k", "--in-place")
    now = odd.read_bytes()
    differ = [i for i in range(len(was)) if was[i] != now[i]]
    assert len(was) == len(now) and [was[i : i + 1] for i in differ] == [b"h"] * 4
    assert np.array_equal(run(odd), EXPECTED)


def test_metadata(odd, tmp_path):
    out = tmp_path / "out.onnx"
    sardonyx("metadata", odd, "--set", "author=somebody else", "-o", out)
    assert changes(odd.read_bytes(), out.read_bytes()) == (
        [("metadata_props.value", b"nobody")],
        [("metadata_props.value", b"somebody else")],
    )
    sardonyx("metadata", odd, "--set", "new=1", "-o", out)
    removed, added = changes(odd.read_bytes(), out.read_bytes())
    assert removed == [] and sorted(added) == [
        ("metadata_props", b""),
        ("metadata_props", b"end"),
        ("metadata_props.key", b"new"),
        ("metadata_props.value", b"1"),
    ]
    assert unknown(odd.read_bytes()) == unknown(out.read_bytes())
    sardonyx("metadata", odd, "--delete", "draft", "-o", out)
    removed, added = changes(odd.read_bytes(), out.read_bytes())
    assert added == [] and {place.split(".")[0] for place, _ in removed} == {"metadata_props"}
    assert [d for p, d in removed if p.endswith(("key", "value"))] == [b"yes", b"draft"]
    assert len(unknown(odd.read_bytes())) == len(unknown(out.read_bytes())) + UNKNOWN_PER_MESSAGE
    assert np.array_equal(run(out), EXPECTED)


def test_external(odd, tmp_path):
    out, back = tmp_path / "packed" / "m.onnx", tmp_path / "back.onnx"
    out.parent.mkdir()
    weights = np.arange(512, dtype=np.float32).tobytes()
    sardonyx("external", odd, "--pack", "w.bin", "-o", out)
    was, now = odd.read_bytes(), out.read_bytes()
    removed, added = changes(was, now)
    assert removed == [("graph.initializer.raw_data", weights)]
    assert {place for place, _ in added} == {
        "graph.initializer.external_data",
        "graph.initializer.external_data.key",
        "graph.initializer.external_data.value",
        "graph.initializer.data_location",
    }
    texts = [data for place, data in added if place.endswith(("key", "value"))]
    assert texts == [b"location", b"w.bin", b"offset", b"0", b"length", b"2048"]
    assert unknown(was) == unknown(now) and (out.parent / "w.bin").read_bytes() == weights
    assert np.array_equal(run(out), EXPECTED)
    sardonyx("external", out, "--inside", "-o", back)
    assert changes(back.read_bytes(), now)[0] == [("graph.initializer.raw_data", weights)]
    assert unknown(back.read_bytes()) == unknown(was) and np.array_equal(run(back), EXPECTED)


def test_tensors(odd, tmp_path):
    array, out = tmp_path / "w.npy", tmp_path / "out.onnx"
    new = np.linspace(0, 1, 512, dtype=np.float32)
    np.save(array, new)
    sardonyx("tensors", odd, "--replace", f"w={array}", "-o", out)
    was, now = odd.read_bytes(), out.read_bytes()
    assert changes(was, now) == (
        [("graph.initializer.raw_data", np.arange(512, dtype=np.float32).tobytes())],
        [("graph.initializer.raw_data", new.tobytes())],
    )
    assert unknown(was) == unknown(now)
    assert np.array_equal(run(out), np.ones((2, 512), np.float32) + new)
