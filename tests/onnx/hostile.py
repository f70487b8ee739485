# SPDX-License-Identifier: Apache-2.0
"""Files that cannot be right, each with a part of the message that it must get: CASES maps a name to (job, files,
expected). `files` maps file names to bytes or to a function that makes something else there; the first one is read."""

import contextlib
import gzip
import os
import socket
import struct
import zlib

from probe import fixed32, group, msg, num, tag, varint

IR = num(1, 10)
OPSET = msg(8, num(2, 21))
CASES = {}


def case(name, files, expected, job="tensors"):
    assert name not in CASES
    if not isinstance(files, dict):
        files = {"m.onnx": files}
    CASES[name] = (job, files, expected)


def in_model(field):
    return IR + field


def in_graph(field):
    return IR + msg(7, msg(2, "g"), field) + OPSET


def in_node(field):
    return in_graph(msg(1, msg(4, "Relu"), field))


def in_attribute(field):
    return in_node(msg(5, msg(1, "a"), field))


def in_tensor(*fields):
    return in_graph(msg(5, *fields, msg(8, "w")))


def in_value(field):
    return in_graph(msg(11, msg(1, "x"), field))


# Broken records, at several depths: the message names the place.

BROKEN = {
    "cut varint": (tag(60, 0) + b"\x80\x80", "ends inside a number"),
    "cut tag": (b"\x80\x80", "ends inside a number"),
    "varint of eleven bytes": (tag(60, 0) + b"\x80" * 10 + b"\x01", "more than 64 bits"),
    "varint of 65 bits": (tag(60, 0) + b"\xff" * 9 + b"\x02", "more than 64 bits"),
    "tag of six bytes": (b"\x88\x80\x80\x80\x80\x00", "more than 29 bits"),
    "field number too large": (varint(1 << 32), "more than 29 bits"),
    "field 0": (b"\x00\x01", "field number 0"),
    "field 0 with a length": (b"\x02\x01x", "field number 0"),
    "wire type 6": (varint(60 << 3 | 6), "wire type 6"),
    "wire type 7": (varint(60 << 3 | 7), "wire type 7"),
    "length past the end": (tag(60, 2) + b"\x05abcd", "says it has 5 bytes, its message has 4 left"),
    "length of 2^63": (tag(60, 2) + varint(1 << 63), "says it has 9223372036854775808 bytes"),
    "length of 2^64-1": (tag(60, 2) + varint((1 << 64) - 1), "says it has 18446744073709551615 bytes"),
    "length of 2^31": (tag(60, 2) + varint(1 << 31), "says it has 2147483648 bytes"),
    "cut fixed32": (tag(60, 5) + b"abc", "says it has 4 bytes, its message has 3 left"),
    "cut fixed64": (tag(60, 1) + b"abcdefg", "says it has 8 bytes, its message has 7 left"),
    "group without an end": (tag(60, 3) + num(1, 1), "group 60 has no end"),
    "group with another end": (tag(60, 3) + tag(61, 4), "the end of group 61, expected the end of group 60"),
    "end without a group": (tag(60, 4), "the end of group 60 without a start"),
    "groups in groups": (tag(60, 3) * 101 + tag(60, 4) * 101, "groups are nested deeper than 100 levels"),
    "a million groups": (tag(60, 3) * 1000000, "groups are nested deeper than 100 levels"),
    "broken in a group": (tag(60, 3) + tag(1, 2) + b"\x7f" + tag(60, 4), "field 1 says it has 127 bytes"),
    "field 0 in a group": (tag(60, 3) + b"\x00" + tag(60, 4), "field number 0"),
}
PLACES = {
    "model": (in_model, "model at byte 2: "),
    "graph": (in_graph, "model.graph at byte"),
    "node": (in_node, "model.graph.node[0] at byte"),
    "attribute": (in_attribute, "model.graph.node[0].attribute[0] at byte"),
    "tensor": (in_tensor, "model.graph.initializer[0] at byte"),
    "value": (in_value, "model.graph.input[0] at byte"),
}
for what, (data, message) in BROKEN.items():
    for where, (place, path) in PLACES.items():
        if where == "tensor" and what != "cut varint":
            continue  # the field after it would change the message
        if where == "tensor":
            case(f"{what} in a tensor", in_graph(msg(5, data)), f"{path}")
            continue
        if where not in ("model", "node") and what not in ("cut varint", "length past the end", "field 0"):
            continue
        case(f"{what} in the {where}", place(data), message)

case("length of a graph past the end", IR + tag(7, 2) + varint(100) + b"abc", "field 7 says it has 100 bytes")
case("packed ints cut", in_attribute(msg(8, b"\x01\x80")), "ints: packed numbers end inside a number")
case(
    "packed floats cut",
    in_attribute(msg(7, b"12345")),
    "floats: 5 packed bytes are not a whole number of 4-byte",
)
case("packed dims of 70 bits", in_tensor(msg(1, b"\xff" * 10 + b"\x01"), num(2, 1)), "dims: packed numbers")


# Nesting and numbers of things.


def nested(depth, wrap, inner=b""):
    """wrap() around wrap() around …, without copying the inside each time."""
    parts, size = [], len(inner)
    for _ in range(depth):
        head = wrap(size)
        parts.append(head)
        size += len(head)
    return b"".join(reversed(parts)) + inner


def graph_level(size):
    """A node with an attribute that is a graph of this size."""
    g = tag(6, 2) + varint(size)
    a = tag(5, 2) + varint(size + len(g)) + g
    return tag(1, 2) + varint(size + len(a)) + a


def type_level(size):
    s = tag(1, 2) + varint(size)
    return tag(4, 2) + varint(size + len(s)) + s


for depth in (70, 20000, 200000):
    deep = nested(depth, graph_level)
    case(
        f"{depth} graphs in graphs",
        IR + tag(7, 2) + varint(len(deep)) + deep,
        "nested deeper than 200 levels",
    )
for depth in (120, 20000):
    deep = nested(depth, type_level)
    case(f"{depth} types in types", in_value(msg(2, deep)), "nested deeper than 200 levels")
    case(
        f"{depth} optionals",
        in_value(msg(2, deep.replace(tag(4, 2), tag(9, 2)))),
        "nested deeper than 200 levels",
    )
sequence = nested(20000, lambda size: tag(5, 2) + varint(size))
case("20000 sequences", {"v.pb": sequence}, "nested deeper than 200 levels", "pb\tsequence")
case(
    "20000 optional values",
    {"v.pb": nested(20000, lambda size: tag(7, 2) + varint(size))},
    "nested deeper than 200",
    "pb\toptional",
)
case(
    "ten million empty nodes",
    IR + msg(7, msg(1) * 10000000),
    "more messages for its size than any real model",
)
case("ten million empty names", in_node(msg(1) * 40000000), "more messages for its size than any real model")
case(
    "five million empty attributes",
    in_node(msg(5) * 5000000),
    "more messages for its size than any real model",
)
case("graph in many parts", IR + msg(7, msg(2, "x" * 1000)) * 1000, "in too many or too large parts")


# Files that are something else.

case("empty file", b"", "found an empty file")
case("text", b"ir_version: 7\ngraph {}\n", "found text")
case("html", b"<!DOCTYPE html>\n<html></html>", "found text")
case("lfs", b"version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 5\n", "a Git LFS pointer")
case("gzip", gzip.compress(in_node(b"")), "gzip-compressed data")
case("zstd", b"\x28\xb5\x2f\xfd\x00\x00", "zstd-compressed data")
case("xz", b"\xfd7zXZ\x00\x00", "xz-compressed data")
case("bzip2", b"BZh91AY&SY", "bzip2-compressed data")
case("zip", b"PK\x03\x04\x14\x00", "a zip archive")
case("hdf5", b"\x89HDF\r\n\x1a\n\0", "an HDF5 file")
case("npy", b"\x93NUMPY\x01\x00", "a numpy array")
case("program", b"\x7fELF\x02\x01", "a program or shared library")
case("zeros", b"\0" * 100, "field number 0")
case("no model", msg(60, "something else"), "neither an ir_version nor a graph")
case("a folder", {"m.onnx": os.mkdir}, "found a folder")
case("a fifo", {"m.onnx": os.mkfifo}, "found a FIFO")
case("nothing there", {"m.onnx": lambda path: None}, "cannot open: No such file")
case("a link to nothing", {"m.onnx": lambda path: os.symlink("/nowhere", path)}, "cannot open: No such file")
case("a device", {"m.onnx": lambda path: os.symlink("/dev/zero", path)}, "found a device")


# Tensors.

F32, I64, STRING, INT4, FLOAT16, INT32 = 1, 7, 8, 22, 10, 6


def dims(*sizes):
    return b"".join(num(1, size) for size in sizes)


def raw(count):
    return msg(9, b"\0" * count)


BITS = {
    1: 32,
    2: 8,
    3: 8,
    4: 16,
    5: 16,
    6: 32,
    7: 64,
    9: 8,
    10: 16,
    11: 64,
    12: 32,
    13: 64,
    14: 64,
    15: 128,
    16: 16,
}
BITS |= {17: 8, 18: 8, 19: 8, 20: 8, 21: 4, 22: 4, 23: 4, 24: 8, 25: 2, 26: 2, 27: 6, 28: 6}
for data_type, bits in BITS.items():
    need = (5 * bits + 7) // 8
    case(
        f"type {data_type}: raw_data too short",
        in_tensor(dims(5), num(2, data_type), raw(need - 1)),
        f"raw_data has {need - 1} bytes,",
    )
    case(
        f"type {data_type}: raw_data too long",
        in_tensor(dims(5), num(2, data_type), raw(need + 1)),
        f"raw_data has {need + 1} bytes,",
    )
for data_type in (0, 29, 99, -1, 1 << 31):
    value = ((data_type + (1 << 31)) % (1 << 32)) - (1 << 31)
    case(
        f"data_type {data_type}",
        in_tensor(dims(1), num(2, data_type), raw(4)),
        f"data_type is {value}, expected 1 to 28",
    )
case("no data_type", in_tensor(dims(1), raw(4)), "data_type is 0")
case("no data", in_tensor(dims(2), num(2, F32)), "the tensor has no data, float32[2] needs 2 elements")
case("negative dim", in_tensor(dims(2, -3), num(2, F32), raw(4)), "dimension 1 is -3")
case("dims that wrap", in_tensor(dims(1 << 32, 1 << 32), num(2, F32), raw(4)), "multiply to more elements")
case("dims that wrap to 4", in_tensor(dims(1 << 62, 4), num(2, 2), raw(0)), "multiply to more elements")
case(
    "bytes that wrap",
    in_tensor(dims((1 << 63) - 1), num(2, 15), raw(4)),
    "more elements than memory can hold",
)
case(
    "huge dims",
    in_tensor(dims(1 << 40), num(2, F32), raw(4)),
    "raw_data has 4 bytes, float32[1099511627776] needs",
)
case("huge typed", in_tensor(dims(1 << 40), num(2, F32), fixed32(4, 1)), "float_data has 1 values")
case("huge strings", in_tensor(dims(1 << 40), num(2, STRING), msg(6, "a")), "string_data has 1 values")
case(
    "a million dims",
    in_tensor(dims(*[1] * 1000000), num(2, F32), raw(4)),
    "has 1000000 dimensions, expected at most 255",
)
case(
    "raw and typed", in_tensor(dims(1), num(2, F32), raw(4), fixed32(4, 1)), "the data is in 2 fields at once"
)
case(
    "two typed", in_tensor(dims(1), num(2, F32), num(7, 1), fixed32(4, 1)), "the data is in 2 fields at once"
)
case(
    "wrong typed field",
    in_tensor(dims(1), num(2, F32), num(7, 1)),
    "int64_data, which does not hold elements of type float32",
)
case(
    "floats as ints",
    in_tensor(dims(1), num(2, I64), fixed32(4, 1)),
    "float_data, which does not hold elements of type int64",
)
case("strings raw", in_tensor(dims(1), num(2, STRING), raw(4)), "strings are in raw_data")
case("segment", in_tensor(dims(1), num(2, F32), msg(3, num(1, 0), num(2, 1)), raw(4)), "stored in segments")
case("data_location 2", in_tensor(dims(1), num(2, F32), num(14, 2), raw(4)), "data_location is 2")
for data_type, (number, field) in {F32: (4, "float"), 11: (10, "double"), 14: (4, "float")}.items():
    case(
        f"{field}_data of {data_type} cut",
        in_tensor(dims(1), num(2, data_type), msg(number, b"12345")),
        "5 packed bytes are not a whole number",
    )
for data_type, (number, field) in {
    INT32: (5, "int32"),
    I64: (7, "int64"),
    13: (11, "uint64"),
    12: (11, "uint64"),
    FLOAT16: (5, "int32"),
}.items():
    case(
        f"{field}_data of {data_type} cut",
        in_tensor(dims(1), num(2, data_type), msg(number, b"\x80")),
        "packed numbers end inside",
    )
    case(
        f"{field}_data of {data_type} short",
        in_tensor(dims(2), num(2, data_type), num(number, 1)),
        f"{field}_data has 1 values",
    )
    case(
        f"{field}_data of {data_type} long",
        in_tensor(dims(1), num(2, data_type), num(number, 1) * 2),
        f"{field}_data has 2 values",
    )
case(
    "int4 typed short",
    in_tensor(dims(5), num(2, INT4), num(5, 1) * 2),
    "int32_data has 2 values, int4[5] needs 3",
)
case("strings short", in_tensor(dims(2), num(2, STRING), msg(6, "a")), "string_data has 1 values")
case(
    "in a subgraph",
    in_attribute(msg(6, msg(5, dims(2), num(2, F32), raw(4), msg(8, "inner")))),
    "tensor 'inner': raw_data has 4",
)
case("as an attribute", in_attribute(msg(5, dims(2), num(2, F32), raw(4))), "raw_data has 4 bytes")
case(
    "control characters in a name",
    in_graph(msg(5, dims(2), num(2, F32), msg(8, b"a\x1b[31m\xff"))),
    r"tensor 'a\x1b[31m\xff'",
)


# Sparse tensors.


def sparse(values, indices, *sizes):
    parts = [msg(1, values)] if values is not None else []
    parts += [msg(2, indices)] if indices is not None else []
    return in_graph(msg(15, *parts, *(num(3, size) for size in sizes)))


VALUES = dims(2) + num(2, F32) + raw(8)


def indices(*numbers, shape=None, data_type=I64):
    return (
        dims(*(shape or [len(numbers)]))
        + num(2, data_type)
        + msg(9, struct.pack(f"<{len(numbers)}q", *numbers))
    )


case("sparse without values", sparse(None, indices(0, 1), 3), "needs values and indices")
case("sparse without indices", sparse(VALUES, None, 3), "needs values and indices")
case("sparse without dims", sparse(VALUES, indices(0, 1)), "has 0 dimensions")
case("sparse with a negative dim", sparse(VALUES, indices(0, 1), -3), "negative or too large")
case("sparse with dims that wrap", sparse(VALUES, indices(0, 1), 1 << 32, 1 << 32), "negative or too large")
case("sparse index too large", sparse(VALUES, indices(0, 3), 3), "index 3 is outside 0 to 2")
case("sparse index negative", sparse(VALUES, indices(0, -1), 3), "index -1 is outside 0 to 2")
case(
    "sparse pair too large",
    sparse(VALUES, indices(0, 1, 2, 5, shape=[2, 2]), 3, 4),
    "index 5 is outside 0 to 3",
)
case("sparse with too few indices", sparse(VALUES, indices(0), 3), "expected values [n] and int64 indices")
case(
    "sparse with other indices",
    sparse(VALUES, dims(2) + num(2, F32) + raw(8), 3),
    "expected values [n] and int64 indices",
)
case(
    "sparse with a matrix of values",
    sparse(dims(2, 1) + num(2, F32) + raw(8), indices(0, 1), 3),
    "expected values [n] and int64 indices",
)
case(
    "sparse with triples for two dims",
    sparse(VALUES, indices(0, 0, 0, 1, 1, 1, shape=[2, 3]), 3, 4),
    "expected values [n] and int64 indices",
)
case("sparse with 300 dims", sparse(VALUES, indices(0, 1), *[1] * 300), "has 300 dimensions")
case(
    "sparse with a broken payload",
    sparse(dims(2) + num(2, F32) + raw(7), indices(0, 1), 3),
    "raw_data has 7 bytes",
)


# External data.


def external(*entries, files=None, data_type=F32, extra=b""):
    parts = [msg(13, msg(1, key), msg(2, value)) for key, value in entries]
    model = in_tensor(dims(2), num(2, data_type), num(14, 1), *parts, extra)
    return {"m.onnx": model, "w.bin": b"\0" * 8, **(files or {})}


def make_socket(path):
    with socket.socket(socket.AF_UNIX) as s, contextlib.chdir(path.parent):  # their names are short
        s.bind(path.name)


LOCATIONS = {
    "": "has no location",
    "/etc/passwd": "is absolute",
    "//etc/passwd": "is absolute",
    "../w.bin": "climbs out",
    "..": "climbs out",
    "a/../../w.bin": "climbs out",
    "./../w.bin": "climbs out",
    "a/..": "climbs out",
    "a/../w.bin": "climbs out",
    "../../../../../../../../etc/passwd": "climbs out",
    "..\\w.bin": "holds a backslash",
    "C:\\w.bin": "holds a backslash",
    "C:/w.bin": "is absolute",
    "w.bin\0.txt": "holds a NUL byte",
    ".": "is a folder",
    "./": "is a folder",
    "sub/": "is a folder",
    "sub/.": "is a folder",
    "missing.bin": "cannot open external data 'missing.bin': No such file",
    "w.bin/x": "cannot open external data 'w.bin/x': Not a directory",
    "w.bin\n": r"cannot open external data 'w.bin\n'",
    "x" * 300: "File name too long",
}
for location, message in LOCATIONS.items():
    case(f"location {location[:40]!r}", external(("location", location)), message)
case(
    "location is a folder",
    external(("location", "sub"), files={"sub": os.mkdir}),
    "'sub' is not a regular file",
)
case("location is a fifo", external(("location", "p"), files={"p": os.mkfifo}), "'p' is not a regular file")
case("location is a socket", external(("location", "s"), files={"s": make_socket}), "'s': No such device")
OUT = "leaves the model's folder through a symbolic link"


def link_to_neighbour(path):
    """To a folder whose name begins like that of the model's."""
    folder = path.parent.with_name(path.parent.name + "2")
    folder.mkdir()
    (folder / "w.bin").write_bytes(bytes(8))
    os.symlink(f"../{folder.name}/w.bin", path)


LINKS = {
    "out": ("l", {"l": lambda p: os.symlink("/etc/passwd", p)}, OUT),
    "to the folder above": ("l", {"l": lambda p: os.symlink("..", p)}, OUT),
    "to a neighbour": ("l", {"l": link_to_neighbour}, OUT),
    "to a link out": (
        "l",
        {"l": lambda p: os.symlink("k", p), "k": lambda p: os.symlink("/etc/passwd", p)},
        OUT,
    ),
    "to a folder out": ("d/passwd", {"d": lambda p: os.symlink("/etc", p)}, OUT),
    "to a device": ("l", {"l": lambda p: os.symlink("/dev/zero", p)}, OUT),
    "to itself": ("l", {"l": lambda p: os.symlink("l", p)}, "Too many levels"),
    "to nothing": ("l", {"l": lambda p: os.symlink("none", p)}, "'l': No such file"),
    "to a folder here": ("l", {"l": lambda p: os.symlink(".", p)}, OUT),
    "to a fifo here": ("l", {"l": lambda p: os.symlink("p", p), "p": os.mkfifo}, "'l' is not a regular file"),
}
for name, (location, files, message) in LINKS.items():
    case(f"location is a link {name}", external(("location", location), files=files), message)
case("no entries", external(), "has no location")
case("unknown key", external(("location", "w.bin"), ("file", "x")), "unknown key 'file'")
case("python attribute", external(("location", "w.bin"), ("__class__", "x")), "unknown key '__class__'")
case("location twice", external(("location", "w.bin"), ("location", "w.bin")), "'location' occurs twice")
case(
    "offset twice", external(("location", "w.bin"), ("offset", "0"), ("offset", "0")), "'offset' occurs twice"
)
for text in ("-1", "x", "", "1e3", "0x10", " 4", "4 ", "+4", "99999999999999999999", "4.0"):
    case(f"offset {text!r}", external(("location", "w.bin"), ("offset", text)), "offset must be a number")
    case(f"length {text!r}", external(("location", "w.bin"), ("length", text)), "length must be a number")
case(
    "offset past the end",
    external(("location", "w.bin"), ("offset", "9")),
    "starts at byte 9, the file 'w.bin' has 8",
)
case(
    "offset of 2^64-1",
    external(("location", "w.bin"), ("offset", str((1 << 64) - 1))),
    "starts at byte 18446744073709551615",
)
case(
    "data past the end",
    external(("location", "w.bin"), ("offset", "1")),
    "needs 8 bytes at offset 1, the file 'w.bin' has 8",
)
case(
    "length too short", external(("location", "w.bin"), ("length", "4")), "has length 4, type and dims need 8"
)
case(
    "length too long",
    external(("location", "w.bin"), ("length", "16")),
    "has length 16, type and dims need 8",
)
case(
    "length of 2^64-1",
    external(("location", "w.bin"), ("length", str((1 << 64) - 1))),
    "has length 18446744073709551615",
)
case(
    "file too short",
    external(("location", "w.bin"), files={"w.bin": b"1234"}),
    "needs 8 bytes at offset 0, the file 'w.bin' has 4",
)
case(
    "file empty",
    external(("location", "w.bin"), files={"w.bin": b""}),
    "needs 8 bytes at offset 0, the file 'w.bin' has 0",
)
case("external and raw", external(("location", "w.bin"), extra=raw(8)), "but the tensor has raw_data as well")
case("external strings", external(("location", "w.bin"), data_type=STRING), "strings cannot be external data")
case(
    "external but not said",
    in_tensor(dims(2), num(2, F32), msg(13, msg(1, "location"), msg(2, "w.bin"))),
    "data_location does not say external",
)


# .npy and .npz.


def npy(header, data=b"", version=1, magic=b"\x93NUMPY", length=None):
    size = len(header) if length is None else length
    return (
        magic
        + bytes([version, 0])
        + struct.pack("<H" if version == 1 else "<I", size)
        + header.encode()
        + data
    )


def npy_case(name, data, expected):
    case(f"npy: {name}", {"a.npy": data}, expected, "npy")


GOOD = "{'descr': '<f4', 'fortran_order': False, 'shape': (2,), }\n"
npy_case("empty", b"", "not a .npy file")
npy_case("magic", npy(GOOD, b"\0" * 8, magic=b"\x93NUMPZ"), "not a .npy file")
npy_case("cut magic", b"\x93NUMPY\x01", "header is cut off")
npy_case("cut length", b"\x93NUMPY\x02\x00\x10\x00", "header is cut off")
npy_case("version 0", npy(GOOD, version=0)[:8] + b"\x10\x00aaaaaaaaaaaaaaaa", ".npy version 0")
npy_case("version 9", npy(GOOD, version=9), ".npy version 9")
npy_case("header past the end", npy(GOOD, length=60000), "header says it has 60000 bytes")
npy_case(
    "header past the end, version 2",
    npy(GOOD, version=2, length=0xFFFFFFFF),
    "header says it has 4294967295 bytes",
)
npy_case("no dictionary", npy("[1, 2]"), "expected a dictionary")
npy_case("empty header", npy(""), "expected a dictionary")
npy_case("open dictionary", npy("{'descr': '<f4'"), "malformed")
npy_case("open string", npy("{'descr"), "expected the end of a string")
npy_case("no colon", npy("{'descr' '<f4'}"), "expected ':'")
npy_case("unknown key", npy("{'descr': '<f4', 'evil': 1}"), "unknown key 'evil'")
for given in (
    "'descr': '<f4', 'shape': (1,)",
    "'descr': '<f4', 'fortran_order': False",
    "'fortran_order': False, 'shape': (1,)",
):
    npy_case(f"only {given}", npy("{" + given + "}"), "lacks descr, fortran_order or shape")
npy_case("order is no bool", npy("{'fortran_order': 1, }"), "expected True or False")
npy_case("negative size", npy("{'shape': (-1,), }"), "expected a size")
npy_case("huge size", npy("{'shape': (99999999999999999999,), }"), "expected a size")
npy_case("open tuple", npy("{'shape': (1, 2"), "malformed")
npy_case("too many dims", npy("{'shape': (" + "1," * 300 + "), }"), "more than 255 dimensions")
npy_case(
    "records",
    npy("{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (1,), }"),
    "records as elements",
)
npy_case(
    "pickled",
    npy("{'descr': '|O', 'fortran_order': False, 'shape': (1,), }", b"\x80\x04N."),
    "Python objects (pickled)",
)
npy_case(
    "dates", npy("{'descr': '<M8[s]', 'fortran_order': False, 'shape': (1,), }"), "elements of type '<M8[s]'"
)
npy_case(
    "long double",
    npy("{'descr': '<f16', 'fortran_order': False, 'shape': (1,), }"),
    "elements of type '<f16'",
)
npy_case("no size", npy("{'descr': '<f', 'fortran_order': False, 'shape': (1,), }"), "elements of type '<f'")
npy_case("data cut", npy(GOOD, b"\0" * 7), "needs 8 bytes, the file has 7")
npy_case("shape that wraps", npy(GOOD.replace("(2,)", "(4294967296, 4294967296)")), "negative or too large")
npy_case("bytes that wrap", npy(GOOD.replace("(2,)", "(4611686018427387905,)")), "negative or too large")
npy_case(
    "strings of no bytes",
    npy("{'descr': '<U0', 'fortran_order': False, 'shape': (1099511627776,), }"),
    "elements of no bytes",
)
npy_case(
    "not a character",
    npy("{'descr': '<U1', 'fortran_order': False, 'shape': (1,), }", b"\xff" * 4),
    "which is no character",
)
npy_case(
    "nameless",
    npy("{'descr': '|V1', 'fortran_order': False, 'shape': (1,), }", b"\0"),
    "does not say which type",
)


def member(name, data, *, method=0, crc=None, packed=None, size=None, flags=0, extra=b"", at=0):
    """A member's local header with data, and its entry in the directory."""
    stored = data if method == 0 else zlib.compress(data)[2:-4]
    crc = zlib.crc32(data) if crc is None else crc
    packed = len(stored) if packed is None else packed
    size = len(data) if size is None else size
    common = struct.pack("<HHHIIIIHH", 20, flags, method, 0, crc, packed, size, len(name), 0)
    local = b"PK\x03\x04" + common + name + stored
    common = struct.pack("<HHHIIIIHH", 20, flags, method, 0, crc, packed, size, len(name), len(extra))
    return local, b"PK\x01\x02\x14\0" + common + b"\0" * 10 + struct.pack("<I", at) + name + extra


def archive(*members, count=None, size=None, offset=None, tail=b""):
    data = b"".join(local for local, _ in members)
    directory = b"".join(entry for _, entry in members)
    count = len(members) if count is None else count
    end = struct.pack(
        "<HHHHIIH",
        0,
        0,
        count,
        count,
        len(directory) if size is None else size,
        len(data) if offset is None else offset,
        0,
    )
    return data + directory + tail + b"PK\x05\x06" + end


def npz_case(name, data, expected):
    case(f"npz: {name}", {"a.npz": data}, expected, "npz")


ARRAY = npy(GOOD, b"\0" * 8)
npz_case("empty", b"", "it has 0 bytes")
npz_case("no end", b"PK\x03\x04" + b"\0" * 100, "not a zip archive, or its end is cut off")
npz_case(
    "directory past the end",
    archive(member(b"x.npy", ARRAY), offset=1 << 30),
    "directory says it lies at 1073741824",
)
npz_case("directory too large", archive(member(b"x.npy", ARRAY), size=1 << 30), "directory says it lies at")
npz_case("too many members", archive(member(b"x.npy", ARRAY), count=60000), "60000 members in")
npz_case(
    "damaged entry",
    archive((member(b"x.npy", ARRAY)[0], b"XXXX" + member(b"x.npy", ARRAY)[1][4:])),
    "member 0 of the zip directory is damaged",
)
npz_case(
    "entry cut", archive((b"", member(b"x" * 100, b"")[1][:80])), "member 0 of the zip directory is cut off"
)
npz_case("encrypted", archive(member(b"x.npy", ARRAY, flags=1)), "'x.npy' is encrypted")
npz_case(
    "method 12",
    archive((member(b"x.npy", ARRAY)[0], member(b"x.npy", ARRAY, method=12, packed=len(ARRAY))[1])),
    "compression method 12",
)
npz_case("header elsewhere", archive(member(b"x.npy", ARRAY, at=7)), "where no member starts")
npz_case("header past the end", archive(member(b"x.npy", ARRAY, at=1 << 31)), "where no member starts")
npz_case(
    "data past the end",
    archive(member(b"x.npy", ARRAY, packed=1 << 30, size=1 << 30)),
    "needs 1073741824 bytes",
)
npz_case("two sizes", archive(member(b"x.npy", ARRAY, size=5)), "has two sizes")
npz_case("wrong checksum", archive(member(b"x.npy", ARRAY, crc=1)), "the member is damaged")
npz_case(
    "wrong checksum, deflated", archive(member(b"x.npy", ARRAY, crc=1, method=8)), "the member is damaged"
)
npz_case("bomb", archive(member(b"x.npy", ARRAY, method=8, size=1 << 31)), "cannot unpack to 2147483648")
npz_case(
    "deflated data damaged",
    archive(member(b"x.npy", ARRAY, method=8, size=len(ARRAY) + 5)),
    "compressed data is damaged",
)
npz_case("not an array", archive(member(b"x.npy", b"hello")), "not a .npy file")
npz_case(
    "zip64 cut",
    archive(member(b"x.npy", ARRAY, size=0xFFFFFFFF, extra=b"\x01\x00\x04\x00abcd")),
    "zip64 field is cut off",
)
npz_case(
    "zip64 directory elsewhere",
    archive(member(b"x.npy", ARRAY), count=0xFFFF, tail=b"PK\x06\x07" + struct.pack("<IQI", 0, 1 << 60, 1)),
    "zip64 directory is damaged",
)


def locator(end64):
    return b"PK\x06\x07" + struct.pack("<IQI", 0, end64, 1)


npz_case(
    "zip64 directory that is none",
    archive(member(b"x.npy", ARRAY), count=0xFFFF, tail=locator(0)),
    "zip64 directory is damaged",
)
npz_case("zip64 in a small file", archive(count=0xFFFF, tail=locator(1 << 60)), "zip64 directory is damaged")
PAIR = (member(b"x" * 60 + b".npy", ARRAY), member(b"y.npy", ARRAY))
npz_case(
    "last entry cut",
    archive(*PAIR, size=sum(len(entry) for _, entry in PAIR) - 10),
    "member 1 of the zip directory is damaged",
)
npz_case(
    "header at the end",
    archive(member(b"x.npy", ARRAY, at=len(archive(member(b"x.npy", ARRAY))))) + b"PK\x03\x04" + bytes(6),
    "where no member starts",
)
LOCAL, ENTRY = member(b"x.npy", ARRAY)
npz_case(
    "long name", archive((LOCAL[:26] + b"\xff\xff" + LOCAL[28:], ENTRY)), f"needs {len(ARRAY)} bytes at 65565"
)
npz_case(
    "more than nothing", archive(member(b"x.npy", ARRAY, method=8, size=0, crc=0)), "data is damaged: 0 of 0"
)


# Values.

for field, kind in ((4, "sparse tensors"), (5, "sequences"), (6, "maps"), (7, "optionals")):
    case(f"value: {kind} of no kind", {"v.pb": msg(field, b"")}, "elem_type 0", "pb\tsequence")
case("value: map of no keys", {"v.pb": num(2, 99)}, "key_type 99", "pb\tmap")
case("value: in parts", {"v.pb": num(2, 1) + msg(3) + msg(3)}, "occurs more than once", "pb\toptional")
case("value: a broken tensor", {"v.pb": dims(2) + num(2, F32) + raw(4)}, "raw_data has 4 bytes", "pb\ttensor")
case("value: sequence of kind 9", {"v.pb": num(2, 9)}, "elem_type 9", "pb\tsequence")
case(
    "value: sequence of no kind",
    {"v.pb": msg(3, dims(1) + num(2, F32) + raw(4))},
    "elem_type 0",
    "pb\tsequence",
)
GOOD, BROKEN_TENSOR = (msg(3, dims(2) + num(2, F32) + raw(n)) for n in (8, 4))
case(
    "value: sequence with a broken element",
    {"v.pb": num(2, 1) + GOOD + BROKEN_TENSOR},
    "element 1: tensor: raw_data has 4 bytes",
    "pb\tsequence",
)
case("value: map of float keys", {"v.pb": num(2, F32)}, "key_type 1", "pb\tmap")
case("value: map without values", {"v.pb": num(2, I64) + num(3, 1)}, "1 keys and 0 values", "pb\tmap")
case(
    "value: map with too many values",
    {"v.pb": num(2, I64) + msg(5, num(2, 1), msg(3, dims(1) + num(2, F32) + raw(4)))},
    "0 keys and 1 values",
    "pb\tmap",
)
case(
    "value: group", {"v.pb": group(1, num(1, 1)) + tag(9, 4)}, "end of group 9 without a start", "pb\ttensor"
)
