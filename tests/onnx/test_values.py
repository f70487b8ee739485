# SPDX-License-Identifier: Apache-2.0
"""Values in files of their own: .pb beside the onnx package, .npy and .npz beside numpy."""

import zipfile

import ml_dtypes
import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper
from probe import run_job

TENSOR = numpy_helper.from_array(np.arange(6, dtype=np.float32).reshape(2, 3))
WORDS = helper.make_tensor("", TensorProto.STRING, [2], ["a", "b"])


def make_sequence(items):
    return numpy_helper.from_list([numpy_helper.to_array(t) for t in items], "s")


def make_map(keys, key_type):
    values = [np.float32(i) for i in range(len(keys))]
    return numpy_helper.from_dict(dict(zip(keys, values, strict=True)), "m")


def make_sparse():
    values = helper.make_tensor("sp", TensorProto.FLOAT, [2], [1.5, 2.5])
    return helper.make_sparse_tensor(
        values, helper.make_tensor("", TensorProto.INT64, [2, 2], [0, 1, 2, 0]), [3, 4]
    )


def make_nested():
    inner = onnx.SequenceProto(elem_type=onnx.SequenceProto.MAP)
    inner.map_values.append(make_map(np.array([3, 4], np.int64).tolist(), TensorProto.INT64))
    outer = onnx.SequenceProto(elem_type=onnx.SequenceProto.SEQUENCE)
    outer.sequence_values.append(inner)
    inner.map_values[0].ClearField("name")  # only the outermost value has a name
    outer.sequence_values[0].CopyFrom(inner)
    return outer


VALUES = {
    "sequence": ("sequence", make_sequence([TENSOR, TENSOR])),
    "empty sequence": ("sequence", onnx.SequenceProto(name="e", elem_type=onnx.SequenceProto.TENSOR)),
    "sequence of sequences of maps": ("sequence", make_nested()),
    "map of ints": ("map", make_map([1, -5, 7], TensorProto.INT64)),
    "optional": ("optional", numpy_helper.from_optional(np.ones(3, np.int32), "o")),
    "optional sequence": ("optional", numpy_helper.from_optional([np.ones(2, np.int64)], "o")),
    "empty optional": ("optional", onnx.OptionalProto(name="n")),
    "sparse": ("sparse tensor", make_sparse()),
}


def plain(message):
    """Messages as lists, whatever way their tensors are stored."""
    if isinstance(message, TensorProto):
        return (message.name, message.data_type, numpy_helper.to_array(message).tolist())
    return {
        f.name: [plain(v) if f.message_type else v for v in value]
        if f.is_repeated
        else plain(value)
        if f.message_type
        else value
        for f, value in message.ListFields()
    }


@pytest.mark.parametrize("name", VALUES)
def test_values(name, tmp_path):
    kind, message = VALUES[name]
    path, out = tmp_path / "v.pb", tmp_path / "out.pb"
    path.write_bytes(message.SerializeToString())
    assert run_job("pb", kind, path, out) == "ok"
    got = plain(type(message).FromString(out.read_bytes()))
    expected = plain(message)
    if name == "empty optional":
        expected.pop("elem_type", None)
    assert got == expected


NATIVE = ["?", "i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8", "f2", "f4", "f8", "c8", "c16"]


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("endian", ["<", ">"])
@pytest.mark.parametrize("dtype", NATIVE)
def test_npy(dtype, endian, order, tmp_path):
    rng = np.random.default_rng(1)
    path, out = tmp_path / "a.npy", tmp_path / "out.npy"
    for shape in [(), (0,), (5,), (2, 3), (3, 1, 4), (40, 60)]:
        array = np.asarray(rng.integers(0, 2, shape)).astype(
            np.dtype(dtype).newbyteorder(endian), order=order
        )
        np.save(path, array)
        assert run_job("npy", path, out, "") == "ok"
        got = np.load(out)
        assert got.dtype == array.dtype.newbyteorder("=") and got.shape == array.shape
        assert (got == array).all()


ML = {
    "bfloat16": ml_dtypes.bfloat16,
    "float8e4m3fn": ml_dtypes.float8_e4m3fn,
    "float8e4m3fnuz": ml_dtypes.float8_e4m3fnuz,
    "float8e5m2": ml_dtypes.float8_e5m2,
    "float8e5m2fnuz": ml_dtypes.float8_e5m2fnuz,
    "float8e8m0": ml_dtypes.float8_e8m0fnu,
    "float4e2m1": ml_dtypes.float4_e2m1fn,
    "float6e2m3": ml_dtypes.float6_e2m3fn,
    "float6e3m2": ml_dtypes.float6_e3m2fn,
    "int4": ml_dtypes.int4,
    "uint4": ml_dtypes.uint4,
    "int2": ml_dtypes.int2,
    "uint2": ml_dtypes.uint2,
}


@pytest.mark.parametrize("name", ML)
def test_npy_of_small_types(name, tmp_path):
    path, out, pb = tmp_path / "a.npy", tmp_path / "out.npy", tmp_path / "out.pb"
    array = np.array([[1, 0, 1], [0, 1, 1], [1, 1, 0]]).astype(ML[name])
    np.save(path, array)
    assert run_job("npy", path, out, name) == "ok"
    assert out.read_bytes() == path.read_bytes()
    assert run_job("npypb", path, pb, name) == "ok"
    got = numpy_helper.to_array(TensorProto.FromString(pb.read_bytes()))
    assert got.dtype == array.dtype and got.tobytes() == array.tobytes()
    if name not in ("bfloat16", "float8e5m2"):
        assert "nameless" in run_job("npy", path, out, "")


def test_npy_strings(tmp_path):
    path, out = tmp_path / "a.npy", tmp_path / "out.npy"
    for array in [
        np.array([["a", "\u00e9\u4e2d\U0001f600"], ["", "long one"]]),
        np.array(["x", "y"]).astype(">U3"),
    ]:
        np.save(path, array)
        assert run_job("npy", path, out, "") == "ok"
        assert np.load(out).tolist() == array.tolist()
    np.save(path, np.array([b"ab", b""]))
    assert run_job("npy", path, out, "") == "ok"
    assert np.load(out).tolist() == ["ab", ""]


@pytest.mark.parametrize("version", [(1, 0), (2, 0), (3, 0)])
def test_npy_versions(version, tmp_path):
    path, out = tmp_path / "a.npy", tmp_path / "out.npy"
    with path.open("wb") as file:
        np.lib.format.write_array(file, np.arange(4.0), version=version)
    assert run_job("npy", path, out, "") == "ok"
    assert np.load(out).tolist() == [0, 1, 2, 3]


@pytest.mark.parametrize("save", [np.savez, np.savez_compressed])
def test_npz(save, tmp_path):
    path, out = tmp_path / "a.npz", tmp_path / "out.npz"
    arrays = {
        "x": np.arange(10000.0),
        "name with spaces/\u00e9": np.ones((2, 3), np.int32),
        "s": np.array(["a", "b"]),
    }
    save(path, **arrays)
    assert run_job("npz", path, out) == "ok"
    with np.load(out) as got:
        assert list(got) == list(arrays)
        for name, array in arrays.items():
            assert got[name].dtype == array.dtype and (got[name] == array).all()
    assert zipfile.ZipFile(out).testzip() is None


def test_npz_of_zip64(tmp_path):
    path, out = tmp_path / "a.npz", tmp_path / "out.npz"
    with (
        zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive,
        archive.open("x.npy", "w", force_zip64=True) as file,
    ):
        np.lib.format.write_array(file, np.arange(100))
    assert run_job("npz", path, out) == "ok"
    with np.load(out) as got:
        assert (got["x"] == np.arange(100)).all()
