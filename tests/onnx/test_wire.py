# SPDX-License-Identifier: Apache-2.0
"""The reader and the writer against the protobuf library: official cases, and files written in unusual ways."""

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper
from probe import fixed32, group, msg, num, run_job, run_jobs, tag, varint


def test_canonical_writing_is_what_protobuf_writes(official, tmp_path):
    jobs = [("canonical", path, tmp_path / f"{i}.onnx") for i, path in enumerate(official)]
    assert set(run_jobs(jobs)) == {"ok"}
    different = []
    for _, path, written in jobs:
        model = onnx.ModelProto.FromString(path.read_bytes())
        if model.SerializeToString(deterministic=True) != written.read_bytes():
            different.append(path.name)
    assert different == []


OPSET = msg(8, num(2, 21))
GRAPH = msg(
    7,
    msg(1, msg(1, "x"), msg(2, "y"), msg(4, "Relu")),
    msg(2, "g"),
    msg(11, msg(1, "x")),
    msg(12, msg(1, "y")),
)

# Files that mean the same or something valid, but that no common library would write.
UNUSUAL = {
    "padded varints": num(1, 10, 5) + msg(7, msg(2, "g", width=4), width=3) + OPSET,
    "padded tag": b"\x88\x80\x00" + varint(10) + GRAPH + OPSET,
    "order reversed": OPSET + GRAPH + num(1, 10),
    "unknown fields": num(1, 10) + num(99, 7) + GRAPH + msg(1000, "later") + tag(77, 1) + b"12345678" + OPSET,
    "unknown in a node": num(1, 10)
    + msg(7, msg(1, msg(4, "Relu"), num(55, 3), fixed32(56, 1.0)), num(70, 1))
    + OPSET,
    "groups": num(1, 10) + group(40, num(1, 2), group(41, msg(3, "in")), num(4, 4)) + GRAPH + OPSET,
    "known number, other wire type": num(1, 10) + num(7, 5) + GRAPH + msg(1, "ir") + OPSET,
    "scalar twice": num(1, 9) + num(1, 10) + msg(2, "one") + GRAPH + msg(2, "two") + OPSET,
    "graph in parts": num(1, 10)
    + msg(7, msg(2, "g"), msg(11, msg(1, "x")))
    + OPSET
    + msg(7, msg(12, msg(1, "y"))),
    "graph in three parts": num(1, 10)
    + msg(7, msg(2, "a"))
    + msg(7, msg(2, "b"))
    + msg(7, msg(2, "c"))
    + OPSET,
    "parts in parts": num(1, 10)
    + msg(7, msg(11, msg(1, "x"), msg(2, msg(1, num(1, 1)))))
    + msg(7, msg(12, msg(1, "y"), msg(2, msg(1, num(1, 1))), msg(2, msg(1, msg(2))))),
    "oneof twice": num(1, 10)
    + msg(7, msg(11, msg(1, "x"), msg(2, msg(1, num(1, 1)), msg(4, msg(1)), msg(1, num(1, 7)))))
    + OPSET,
    "oneof again, in parts": num(1, 10)
    + msg(7, msg(11, msg(1, "x"), msg(2, msg(1, num(1, 1)), msg(4), msg(1), msg(1, num(1, 7)))))
    + OPSET,
    "dim value and param": num(1, 10)
    + msg(7, msg(11, msg(1, "x"), msg(2, msg(1, num(1, 1), msg(2, msg(1, num(1, 4), msg(2, "N")))))))
    + OPSET,
    "dim param, then a value of another wire type": num(1, 10)
    + msg(7, msg(11, msg(1, "x"), msg(2, msg(1, num(1, 1), msg(2, msg(1, msg(2, "N"), msg(1, "4")))))))
    + OPSET,
    "ints packed": num(1, 10)
    + msg(7, msg(1, msg(5, msg(1, "axes"), msg(8, b"\x01\x02\x03"), num(20, 7))))
    + OPSET,
    "ints packed and not": num(1, 10)
    + msg(
        7,
        msg(
            1, msg(5, msg(1, "axes"), num(8, 1), msg(8, b"\x02\x83\x00"), num(8, 4, 3), num(20, 7), num(8, 5))
        ),
    )
    + OPSET,
    "packed fields without a number": num(1, 10)
    + msg(7, msg(5, msg(1), num(2, 1), msg(5), msg(11), msg(11), msg(8, "w")))
    + OPSET,
    "equal typed data, once with raw data": num(1, 10)
    + msg(7, *[msg(5, num(2, 1), msg(7, b"\x20\x20"), *raw) for raw in ([], [msg(9, "a888")])])
    + OPSET,
    "empty raw data beside elements": num(1, 10)
    + msg(7, msg(5, num(1, 1), num(2, 9), msg(5, b"\x01"), msg(8, "w"), msg(9)))
    + OPSET,
    "an attribute beyond every integer": num(1, 10)
    + msg(7, msg(1, msg(4, "Elu"), msg(5, msg(1, "alpha"), fixed32(2, 1.8e31), num(20, 1))))
    + OPSET,
    "padded varints in packed numbers": num(1, 10)
    + msg(7, msg(5, num(1, 3), num(2, 6), msg(5, b"\x83\x80\x00\x07\xff\x00"), msg(8, "w")))
    + OPSET,
    "dims packed": num(1, 10)
    + msg(7, msg(5, msg(1, b"\x02\x01"), num(2, 1), msg(4, b"\0" * 8), msg(8, "w")))
    + OPSET,
    "float_data unpacked": num(1, 10)
    + msg(7, msg(5, num(1, 2), num(2, 1), fixed32(4, 1.5), fixed32(4, -2.0), msg(8, "w")))
    + OPSET,
    "negative enum in five bytes": num(1, 10)
    + msg(7, msg(5, tag(2, 0) + b"\xff\xff\xff\xff\x0f", msg(8, "w"))),
    "empty fields": num(1, 10)
    + msg(2)
    + msg(3)
    + msg(7, msg(1), msg(2), msg(5), msg(11), msg(13))
    + msg(8)
    + msg(14),
    "no graph": num(1, 10) + OPSET,
    "external data in an attribute": num(1, 10)
    + msg(
        7,
        msg(
            1,
            msg(4, "Constant"),
            msg(
                5,
                msg(1, "value"),
                msg(5, num(1, 2), num(2, 1), msg(13, msg(1, "location"), msg(2, "w")), num(14, 1)),
                num(20, 4),
            ),
        ),
    ),
}


@pytest.mark.parametrize("name", UNUSUAL)
def test_unusual_files_are_written_byte_for_byte(name, tmp_path):
    path, out = tmp_path / "m.onnx", tmp_path / "out.onnx"
    path.write_bytes(UNUSUAL[name])
    assert run_job("copy", path) == "ok"
    assert run_job("copyfile", path, out) == "ok"
    assert out.read_bytes() == UNUSUAL[name]
    assert run_job("text", path) == "ok"
    # What we understood is what protobuf understands. Unknown fields are dropped by both here.
    assert run_job("canonical", path, out) == "ok"
    expected = onnx.ModelProto.FromString(UNUSUAL[name])
    expected.DiscardUnknownFields()
    assert onnx.ModelProto.FromString(out.read_bytes()) == expected


def make_rich_model():
    """Something in every field of the schema that the package can set."""

    def fill(message, depth):
        for field in message.DESCRIPTOR.fields:
            if field.containing_oneof is not None and field != field.containing_oneof.fields[0]:
                continue
            value = getattr(message, field.name)
            if field.message_type is not None:
                if depth == 0:
                    continue
                fill(value.add() if field.is_repeated else value, depth - 1)
                if not field.is_repeated:
                    value.SetInParent()
            elif field.is_repeated:
                value.extend({"string": ["a", ""], "bytes": [b"\xff\x00", b""]}.get(kind(field), [1, 0, 2]))
            else:
                setattr(message, field.name, {"string": "text\n", "bytes": b"\x80"}.get(kind(field), 1))

    def kind(field):
        return {9: "string", 12: "bytes"}.get(field.type, "number")

    model = onnx.ModelProto()
    fill(model, 7)
    return model


def test_every_field_of_the_schema(tmp_path):
    model = make_rich_model()
    path, out = tmp_path / "rich.onnx", tmp_path / "out.onnx"
    path.write_bytes(model.SerializeToString(deterministic=True))
    assert run_job("copy", path) == "ok"
    assert run_job("canonical", path, out) == "ok"
    assert out.read_bytes() == path.read_bytes()
    assert run_job("text", path) == "ok"


TYPES = [t for t in TensorProto.DataType.values() if t != TensorProto.UNDEFINED]


@pytest.mark.parametrize(
    "data_type,raw", [(t, raw) for t in TYPES for raw in (True, False) if not raw or t != TensorProto.STRING]
)
def test_tensors_of_every_type(data_type, raw, tmp_path):
    """A tensor read and written as .pb has the elements that the package reads from the original."""
    rng = np.random.default_rng(data_type)
    for count in (0, 1, 3, 4, 7):
        if data_type == TensorProto.STRING:
            values = [f"ab\u00e9{i}\0" for i in range(count)]
        elif data_type in (TensorProto.COMPLEX64, TensorProto.COMPLEX128):
            values = (rng.normal(size=count) + 1j * rng.normal(size=count)).astype(
                helper.tensor_dtype_to_np_dtype(data_type)
            )
        elif data_type == TensorProto.BOOL:
            values = rng.integers(0, 2, count).astype(bool)
        else:
            values = np.asarray(rng.integers(0, 2, count)).astype(helper.tensor_dtype_to_np_dtype(data_type))
        if raw:
            tensor = numpy_helper.from_array(np.asarray(values), "t")
        else:
            tensor = helper.make_tensor("t", data_type, [count], values)
        assert tensor.HasField("raw_data") == raw
        path, out = tmp_path / "t.pb", tmp_path / "out.pb"
        path.write_bytes(tensor.SerializeToString())
        assert run_job("pb", "tensor", path, out) == "ok"
        got = TensorProto.FromString(out.read_bytes())
        assert (got.data_type, list(got.dims), got.name) == (data_type, [count], "t")
        expected, found = numpy_helper.to_array(tensor), numpy_helper.to_array(got)
        if data_type == TensorProto.STRING:
            assert expected.tolist() == found.tolist()
        else:
            assert expected.tobytes() == found.tobytes()
