# SPDX-License-Identifier: Apache-2.0
"""Builds the stand-in models into build/test_models/NAME: model.onnx, test_data_set_K, source.txt.

python tests/models/build.py [--out FOLDER] [--full] [NAME ...]
--full builds the large pipelines of the benchmark into build/bench_models. Does nothing where all is up to date.
"""

import argparse
import hashlib
import importlib
import shutil
import sys
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
MODULES = ["convnets", "encoders", "speech", "pipelines", "control_flow", "unsupported"]


def fingerprint() -> str:
    digest = hashlib.sha256()
    for path in (
        *sorted(HERE.glob("*.py")),
        ROOT / "requirements" / "test.txt",
        ROOT / "requirements" / "base.txt",
    ):
        digest.update(path.read_bytes())
    return digest.hexdigest()


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("names", nargs="*", help="only these models")
    parser.add_argument("--out", type=Path)
    parser.add_argument("--full", action="store_true")
    args = parser.parse_args()

    out = args.out or ROOT / "build" / ("bench_models" if args.full else "test_models")
    stamp = out / ".stamp"
    if not args.names and stamp.exists() and stamp.read_text() == fingerprint():
        return
    start = time.monotonic()
    sys.path.insert(0, str(HERE))
    built = 0
    for module in MODULES:
        functions = getattr(importlib.import_module(module), "FULL" if args.full else "MODELS", [])
        for function in functions:
            if args.names and function.__name__ not in args.names:
                continue
            folder = out / function.__name__
            shutil.rmtree(folder, ignore_errors=True)
            function(folder, full=True) if args.full else function(folder)
            built += 1
    if not args.names:
        stamp.write_text(fingerprint())
    print(f"built {built} models in {out} in {time.monotonic() - start:.1f} s")


if __name__ == "__main__":
    main()
