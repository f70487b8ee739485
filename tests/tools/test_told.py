# SPDX-License-Identifier: Apache-2.0
"""What the editing verbs say about what they wrote: to people, as JSON, and not at all."""

import json
import shutil

import pytest
from program import DIGITS, run


@pytest.fixture
def path(tmp_path):
    return shutil.copy(DIGITS, tmp_path / "m.onnx")


def test_what_was_written(path, tmp_path):
    out = tmp_path / "out.onnx"
    edits = {
        "copy": [],
        "rename": ["--input", "image=picture"],
        "metadata": ["--set", "a=b"],
        "external": ["--pack", "data.bin"],
    }
    for verb, words in edits.items():
        plain, said = run(verb, path, *words, "-o", out)
        assert plain == "" and f"wrote {out} (" in said
        assert run(verb, path, *words, "-o", out, "--quiet") == ("", "")
        text, said = run(verb, path, *words, "-o", out, "--json")
        report = json.loads(text)
        assert said == "" and report["model"] == str(out) and report["bytes"] == out.stat().st_size
        assert report["in_place"] is False
        if verb == "external":
            assert [f["location"] for f in report["files"]] == ["data.bin"]
        if verb == "rename":
            assert report["renamed"] == 2
    report = json.loads(run("rename", path, "--value", "c1=c9", "--in-place", "--json")[0])
    assert report["in_place"] is True and report["renamed"] == 2
    assert (
        json.loads(run("rename", path, "--value", "c9=longer", "--in-place", "--json")[0])["in_place"]
        is False
    )


def test_text_and_back(path, tmp_path):
    text = tmp_path / "m.txt"
    run("text", path, "-o", text)
    report = json.loads(run("parse", text, "-o", tmp_path / "again.onnx", "--json")[0])
    assert report["bytes"] == (tmp_path / "again.onnx").stat().st_size


def test_a_script_and_its_arrays(path, tmp_path):
    script = tmp_path / "m.py"
    assert run("python", path, "-o", script, "--quiet") == ("", "")
    assert json.loads(run("python", path, "-o", script, "--json")[0]) == {
        "script": str(script),
        "arrays": 3,
        "folder": str(tmp_path / "m_tensors"),
    }
    there = tmp_path / "there"
    there.mkdir()
    text, said = run("python", path, "-o", "-", cwd=there)
    assert text == script.read_text() and "3 arrays in m_tensors" in said
    assert len(list((there / "m_tensors").iterdir())) == 3
