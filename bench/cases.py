# SPDX-License-Identifier: Apache-2.0
"""Models with inputs for the benchmark and the matrix: from test_data_set_* beside a model, or made to fit it."""

from dataclasses import dataclass, field
from pathlib import Path

import ml_dtypes  # noqa: F401  (numpy learns the small types)
import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

VARIANTS = 8  # inputs rotate, so that nothing learns them by heart


@dataclass
class Case:
    name: str
    model: Path
    feeds: list[dict] = field(default_factory=list)
    expected: list[list] = field(default_factory=list)  # by feed, where the data set has outputs


def find(paths: list[Path]) -> list[Case]:
    """Models in these files and folders: NAME.onnx, or NAME/model.onnx with its data beside it."""
    cases = []
    for path in paths:
        if path.is_file():
            own = (
                path.parent if path.name == "model.onnx" or any(path.parent.glob("test_data_set_*")) else None
            )
            cases.append(Case(own.name if own else path.stem, path))
            continue
        models = sorted(path.glob("*.onnx"))
        if len(models) == 1 and (models[0].stem == "model" or any(path.glob("test_data_set_*"))):
            cases.append(Case(path.name, models[0]))
        else:
            cases += [Case(model.stem, model) for model in models]
            cases += find([folder for folder in sorted(path.iterdir()) if folder.is_dir()])
    return cases


def read_value(path: Path, kind: str):
    """A .pb file as the Python value that a session takes or gives."""
    data = path.read_bytes()
    if kind == "optional_type":
        optional = onnx.OptionalProto.FromString(data)
        return numpy_helper.to_optional(optional)
    if kind != "sequence_type":
        return numpy_helper.to_array(TensorProto.FromString(data))
    sequence = onnx.SequenceProto.FromString(data)
    if sequence.elem_type != onnx.SequenceProto.MAP:
        return [numpy_helper.to_array(tensor) for tensor in sequence.tensor_values]
    rows = []
    for entry in sequence.map_values:
        keys = [key.decode() for key in entry.string_keys] or list(entry.keys)
        values = [numpy_helper.to_array(tensor) for tensor in entry.values.tensor_values]
        flat = values[0].reshape(-1) if len(values) == 1 else np.array([v.item() for v in values])
        rows.append(dict(zip(keys, flat.tolist(), strict=True)))
    return rows


def fill(case: Case, dims: dict[str, int], variants: int = VARIANTS) -> Case:
    """Gives a case its feeds."""
    model = onnx.load(case.model, load_external_data=False)
    weights = {tensor.name for tensor in model.graph.initializer}
    inputs = [value for value in model.graph.input if value.name not in weights]
    kinds = [value.type.WhichOneof("value") for value in model.graph.output]
    for folder in sorted(case.model.parent.glob("test_data_set_*")):
        feed = {}
        for k, value in enumerate(inputs):
            feed[value.name] = read_value(folder / f"input_{k}.pb", value.type.WhichOneof("value"))
        case.feeds.append(feed)
        outputs = [folder / f"output_{k}.pb" for k in range(len(kinds))]
        if all(path.exists() for path in outputs):
            case.expected.append([read_value(path, kind) for path, kind in zip(outputs, kinds, strict=True)])
    if not case.feeds:
        case.feeds = [random_feed(inputs, dims, seed) for seed in range(variants)]
    return case


def rotated(case: Case, variants: int = VARIANTS) -> list[dict]:
    """At least `variants` feeds of one shape: rows of a table are shuffled, the rest is taken as it is."""
    feeds = [feed for feed in case.feeds if shapes(feed) == shapes(case.feeds[0])]
    rows = {np.shape(value)[:1] for value in feeds[0].values()}
    if len(rows) == 1 and rows != {()} and next(iter(rows))[0] > 1:
        random = np.random.default_rng(0)
        while len(feeds) < variants:
            order = random.permutation(next(iter(rows))[0])
            feeds.append({name: np.ascontiguousarray(value[order]) for name, value in feeds[0].items()})
    return feeds


def shapes(feed: dict) -> list:
    return [np.shape(value) for value in feed.values()]


def size_of(dim, axis: int, value, dims: dict[str, int]) -> int:
    if dim.dim_param in dims:
        return dims[dim.dim_param]
    if dim.HasField("dim_value") and dim.dim_value > 0:
        return dim.dim_value
    if axis == 0 or "batch" in dim.dim_param.lower() or value.name in ("state", "h", "c"):
        return 1
    if value.type.tensor_type.elem_type in (TensorProto.INT64, TensorProto.INT32, TensorProto.UINT8):
        return dims.get("sequence", 128)
    rank = len(value.type.tensor_type.shape.dim)
    return {2: 512, 4: 320}.get(rank, 16)


def random_feed(inputs, dims: dict[str, int], seed: int) -> dict:
    """Values that make sense to the model: ids of words, a mask of ones, one sample rate, zeros for a state."""
    random = np.random.default_rng(seed)
    feed = {}
    for value in inputs:
        tensor, name = value.type.tensor_type, value.name.lower()
        shape = [size_of(dim, axis, value, dims) for axis, dim in enumerate(tensor.shape.dim)]
        dtype = helper.tensor_dtype_to_np_dtype(tensor.elem_type)
        if "mask" in name:
            array = np.ones(shape)
        elif "token_type" in name or "segment" in name or "state" in name:
            array = np.zeros(shape)
        elif name == "sr":
            array = np.full(shape, 16000)
        elif "position" in name:
            array = np.broadcast_to(np.arange(shape[-1]), shape)
        elif tensor.elem_type == TensorProto.STRING:
            array = random.choice(["a", "b", "c"], shape).astype(object)
        elif np.dtype(dtype).kind in "iu":
            array = random.integers(0, 1000 if np.dtype(dtype).itemsize > 1 else 100, shape)
        elif np.dtype(dtype).kind == "b":
            array = random.random(shape) < 0.5
        else:
            array = random.standard_normal(shape)
        feed[value.name] = (
            array if tensor.elem_type == TensorProto.STRING else np.asarray(array).astype(dtype)
        )
    return feed
