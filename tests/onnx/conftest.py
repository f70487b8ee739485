# SPDX-License-Identifier: Apache-2.0
import warnings
from pathlib import Path

import onnx
import pytest


@pytest.fixture(scope="session")
def official(tmp_path_factory):
    """The models of the official suite, as files: those that the package makes, and those that it ships."""
    from onnx.backend.test.loader import load_model_tests

    folder = tmp_path_factory.mktemp("official")
    files = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        cases = load_model_tests(kind="node")
    for case in cases:
        if case.model is None:
            continue
        path = folder / f"{case.name}.onnx"
        path.write_bytes(case.model.SerializeToString())
        files.append(path)
    files += sorted(Path(onnx.__file__).parent.rglob("*.onnx"))
    assert len(files) > 1900
    return files
