# SPDX-License-Identifier: Apache-2.0
"""The official suite and the models of this repository, through corpus.py: copied, printed, parsed, rebuilt."""

from pathlib import Path

from corpus import check_all, refused, report

ROOT = Path(__file__).resolve().parents[2]


def test_every_model_goes_through_the_format(official, capsys):
    bundled = sorted(p for p in (ROOT / "models").rglob("*.onnx") if p.stat().st_size < 1 << 20)
    paths = official + bundled
    right, wrong, refusals = check_all(paths, refused())
    with capsys.disabled():
        print("\n" + report(right, wrong, refusals, len(paths)))
    assert wrong == [] and right["copy"] == len(paths)
    assert right["official"] + len(refusals) == len(paths)
