# SPDX-License-Identifier: Apache-2.0
"""Takes every model in folders through the format: tests/onnx/corpus.py FOLDER… [--update]

copy      read and written to another file: the same bytes
rewrite   the same with every message serialised again
text      printed as ONNX text and parsed by us: an equal model
official  that text without our notes, parsed by onnx.parser and by us: equal models; those that it refuses are in
          parser_refuses.txt with the reason, and none other
python    the script of the model, run: the same bytes as the onnx package writes for the model

Models of more than 32 MB go through text with their weights in a file beside them. SARDONYX_BUILD is the build
folder. With --update the list of what onnx.parser refuses is written anew."""

import argparse
import re
import runpy
import sys
import tempfile
from collections import Counter
from pathlib import Path

import onnx
import onnx.parser
from probe import run_jobs

LIST = Path(__file__).with_name("parser_refuses.txt")
LARGE = 32 << 20
STEPS = ("copy", "rewrite", "text", "official", "python")


def refused():
    """name of a model → why onnx.parser refuses its text"""
    lines = [line for line in LIST.read_text().splitlines() if line and not line.startswith("#")]
    return dict(re.split(r"\s+", line, maxsplit=1) for line in lines)


def name_of(path):
    """The model's own name, or that of its folder: model.onnx tells nothing."""
    return path.parent.name if path.stem == "model" else path.stem


def same_bytes(path, other):
    with path.open("rb") as a, other.open("rb") as b:
        while chunk := a.read(1 << 24):
            if chunk != b.read(len(chunk)):
                return False
        return not b.read(1)


def without_notes(text, to):
    plain = "".join(line for line in text.open(encoding="utf-8", newline="") if not line.startswith("#@"))
    to.write_text(plain, encoding="utf-8", newline="")
    return plain


def without_empty_texts(message):
    """onnx.parser writes an empty domain into every node."""
    for field, value in message.ListFields():
        if field.message_type is not None:
            for child in value if field.is_repeated else [value]:
                without_empty_texts(child)
        elif not field.is_repeated and value == "":
            message.ClearField(field.name)
    return message


def officially_parsed(plain, ours):
    try:
        theirs = onnx.parser.parse_model(plain)
    except onnx.parser.ParseError as problem:
        return "refused: " + " ".join(str(problem).split())
    mine = onnx.load(ours, load_external_data=False)
    return "ok" if without_empty_texts(mine) == without_empty_texts(theirs) else "another model"


def run_script(path, script):
    made = runpy.run_path(str(script))["model"]().SerializeToString()
    data = path.read_bytes()
    same = made == data or made == onnx.ModelProto.FromString(data).SerializeToString()
    return "ok" if same else "another model"


def check(paths, folder):
    """For each path: step → "ok" or what is wrong."""

    def at(kind):
        return [folder / f"{i}.{kind}" for i in range(len(paths))]

    def ask(job, *columns):
        return run_jobs([(job, *words) for words in zip(*columns, strict=True)])

    lean = [at("lean.onnx")[i] if p.stat().st_size > LARGE else p for i, p in enumerate(paths)]
    packed = [(p, q) for p, q in zip(paths, lean, strict=True) if p != q]
    assert not packed or set(ask("pack", *zip(*packed, strict=True))) == {"ok"}
    answers = {
        "copy": ask("copyfile", paths, at("copy")),
        "rewrite": ask("copy", paths),
        "text": ask("text", lean),
        "official": ask("print", lean, at("txt")),
        "python": ask("python", paths, at("py")),
    }
    plain = [without_notes(text, to) for text, to in zip(at("txt"), at("plain"), strict=True)]
    parsed = ask("parse", at("plain"), at("ours"))
    for i, path in enumerate(paths):
        if answers["copy"][i] == "ok" and not same_bytes(path, at("copy")[i]):
            answers["copy"][i] = "other bytes"
        if answers["official"][i] == "ok":
            answers["official"][i] = officially_parsed(plain[i], at("ours")[i])
        if answers["official"][i] == "ok" and parsed[i] != "ok":
            answers["official"][i] = parsed[i]
        if answers["python"][i] == "ok":
            answers["python"][i] = run_script(path, at("py")[i])
    return [{step: answers[step][i] for step in STEPS} for i in range(len(paths))]


def chunks(paths):
    """Few enough at a time that what is made of them fits on a disk."""
    chunk, size = [], 0
    for path in paths:
        chunk.append(path)
        size += path.stat().st_size
        if size > LARGE or len(chunk) == 500:
            yield chunk
            chunk, size = [], 0
    if chunk:
        yield chunk


def check_all(paths, expected):
    """How many are right in each step, what is wrong, and what onnx.parser refuses."""
    right, wrong, refusals = Counter(), [], {}
    for chunk in chunks(paths):
        with tempfile.TemporaryDirectory() as folder:
            answers = check(chunk, Path(folder))
        for path, steps in zip(chunk, answers, strict=True):
            for step, answer in steps.items():
                if answer.startswith("refused: "):
                    refusals[name_of(path)] = answer.removeprefix("refused: ")
                if answer == "ok":
                    right[step] += 1
                elif not (answer.startswith("refused: ") and name_of(path) in expected):
                    wrong.append(f"{path}: {step}: {answer}")
    return right, wrong, refusals


def report(right, wrong, refusals, count):
    lines = [f"{step:9} {right[step]:5} of {count}" for step in STEPS]
    lines[3] += f", {len(refusals)} texts that onnx.parser refuses"
    return "\n".join(lines + wrong)


def main():
    options = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    options.add_argument("folder", nargs="+", type=Path)
    options.add_argument("--update", action="store_true")
    given = options.parse_args()
    paths = [p for f in given.folder for p in ([f] if f.is_file() else sorted(f.rglob("*.onnx")))]
    right, wrong, refusals = check_all(paths, refused())
    print(report(right, wrong, refusals, len(paths)))
    if given.update:
        known = refused() | refusals
        head = [line for line in LIST.read_text().splitlines() if line.startswith("#")]
        LIST.write_text("\n".join(head + [f"{name}  {known[name]}" for name in sorted(known)]) + "\n")
    sys.exit(bool(wrong))


if __name__ == "__main__":
    main()
