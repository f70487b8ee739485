# SPDX-License-Identifier: Apache-2.0
"""Writes the cases that the installed onnx package generates: build/official/NAME/{model.onnx,test_data_set_0/…}.

python tests/official/generate.py [--out build/official] [--kind node]
"""

import argparse
import shutil
from pathlib import Path

import numpy as np
import onnx
from onnx import numpy_helper
from onnx.backend.test.loader import load_model_tests

ROOT = Path(__file__).resolve().parents[2]


def write_value(path: Path, value, type_proto: onnx.TypeProto) -> None:
    """A value in the message that its declared type asks for."""
    kind = type_proto.WhichOneof("value")
    if isinstance(value, onnx.TensorProto | onnx.SequenceProto | onnx.OptionalProto | onnx.MapProto):
        proto = value
    elif kind == "map_type" or isinstance(value, dict):
        proto = numpy_helper.from_dict(value)
    elif kind == "sequence_type":
        proto = numpy_helper.from_list(value)
    elif kind == "optional_type":
        proto = numpy_helper.from_optional(value)
    else:
        proto = numpy_helper.from_array(np.asarray(value))
    path.write_bytes(proto.SerializeToString())


def write_case(case, folder: Path) -> None:
    """Cases that hold arrays are written out; those that hold a folder are copied."""
    if case.model is None:
        shutil.copytree(case.model_dir, folder)
        return
    folder.mkdir(parents=True)
    (folder / "model.onnx").write_bytes(case.model.SerializeToString())
    graph = case.model.graph
    for number, (inputs, outputs) in enumerate(case.data_sets or []):
        data = folder / f"test_data_set_{number}"
        data.mkdir()
        for stem, values, infos in (("input", inputs, graph.input), ("output", outputs, graph.output)):
            for k, value in enumerate(values):
                write_value(data / f"{stem}_{k}.pb", value, infos[k].type)
    (folder / "tolerance.txt").write_text(f"{case.rtol} {case.atol}\n")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, default=ROOT / "build/official")
    parser.add_argument("--kind", default="node", help="node, simple, pytorch-converted, pytorch-operator")
    arguments = parser.parse_args()
    if arguments.out.exists():
        shutil.rmtree(arguments.out)
    cases = load_model_tests(kind=arguments.kind)
    for case in cases:
        write_case(case, arguments.out / case.name)
    print(f"wrote {len(cases)} cases of onnx {onnx.__version__} to {arguments.out}")


if __name__ == "__main__":
    main()
