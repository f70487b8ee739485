# SPDX-License-Identifier: Apache-2.0
"""Help, manual page, completions and errors: all from one table of options."""

import os
import re
import subprocess

import pytest
from program import DIGITS, PROGRAM, ROOT, run

VERBS = re.findall(r"^  (\w+) {2,}\S", run("--help")[0].split("Start here")[0], re.M)
EVERYWHERE = {"--json", "--quiet", "--color", "--threads"}


def options(verb):
    """Names that --help lists, each with whether it takes a value."""
    found = re.findall(r"^  (?:-\w, )?(--[\w-]+)( [A-Z]\S*)?", run(verb, "--help")[0], re.M)
    return {name: bool(value) for name, value in found}


def test_the_verbs_are_there():
    assert {"info", "copy", "text", "parse", "python", "metadata", "rename", "external", "tensors"} <= set(
        VERBS
    )
    assert {"run", "test", "bench", "profile", "explain", "demo", "completion", "man"} <= set(VERBS)


@pytest.mark.parametrize("verb", VERBS)
def test_each_option_is_in_help_manual_and_completions(verb):
    table = options(verb)
    assert table.keys() >= EVERYWHERE
    manual = run("man")[0].replace("\\-", "-")
    section = manual.split(f'.SS "sardonyx {verb} ', 1)[1].split("\n.S", 1)[0]
    fish, zsh = run("completion", "fish")[0], run("completion", "zsh")[0]
    zsh = zsh.split(f"\n    {verb})\n", 1)[1].split(";;", 1)[0]
    complete = completions(verb, "--")
    for name in table:
        assert name in complete
        assert f"{name}[" in zsh
        assert re.search(rf"from {verb}' -l {name[2:]}\b", fish)
        assert re.search(rf"^\.B .*{name}\b", manual if name in EVERYWHERE else section, re.M)


def test_help_fits_eighty_columns():
    for words in (["--help"], *([verb, "--help"] for verb in VERBS)):
        for line in run(*words)[0].splitlines():
            assert len(line) <= 80 or "&&" in line or line.startswith("  sardonyx"), line
    assert run()[0] == run("--help")[0] == run("help")[0]
    assert run("help", "info")[0] == run("info", "--help")[0]


def completions(*words, folder=".", lines=False):
    """What bash offers for the last word, asked as its own completion asks."""
    script = """
        source <("$1" completion bash) || exit 9
        shift
        COMP_WORDS=(sardonyx "$@"); COMP_CWORD=$#
        _sardonyx
        printf '%s\\n' "${COMPREPLY[@]}"
    """
    done = subprocess.run(
        ["bash", "-c", script, "bash", PROGRAM, *words], capture_output=True, text=True, cwd=folder
    )
    assert done.returncode == 0 and not done.stderr, done.stderr
    return done.stdout.splitlines() if lines else done.stdout.split()


def test_bash_completes(tmp_path):
    for name in ("a.onnx", "b.txt", "c.npy"):
        (tmp_path / name).touch()
    (tmp_path / "folder").mkdir()
    assert completions("in") == ["info"]
    assert set(completions("")) >= {*VERBS, "--help", "--version"}
    assert completions("info", "--col") == ["--color"]
    assert completions("info", "--color", "al") == ["always"]
    assert completions("info", "--color", "=", "ne") == ["never"]
    assert completions("run", "x.onnx", "--isa", "") == ["baseline", "avx2", "avx512"]
    assert completions("completion", "") == ["bash", "zsh", "fish"]
    assert completions("info", "", folder=tmp_path) == ["a.onnx", "folder"]
    assert completions("copy", "a.onnx", "-o", "", folder=tmp_path).count("b.txt") == 1
    assert completions("run", "a.onnx", "--input", "x=c", folder=tmp_path) == ["c.npy"]
    assert completions("run", "a.onnx", "--input", "x", "=", "c", folder=tmp_path) == ["c.npy"]
    assert "c.npy" in completions("run", "a.onnx", "--input", "x", "=", folder=tmp_path)
    assert completions("info", "--color", "=") == ["auto", "always", "never"]
    assert completions("run", "a.onnx", "--output-dir", "", folder=tmp_path) == ["folder"]
    assert completions("info", "--top", "", folder=tmp_path) == []
    (tmp_path / "two words.onnx").touch()
    assert completions("info", "tw", folder=tmp_path, lines=True) == ["two words.onnx"]


def in_shell(shell, script):
    """What the script prints in that shell, with the program on its path."""
    path = {**os.environ, "PATH": f"{PROGRAM.resolve().parent}:{os.environ['PATH']}"}
    words = [shell, "-f", "-c", script] if shell == "zsh" else [shell, "-N", "-c", script]
    done = subprocess.run(words, capture_output=True, text=True, env=path, timeout=60)
    assert done.returncode == 0 and not done.stderr, done.stderr
    return done.stdout


def test_fish_completes():
    script = "sardonyx completion fish | source; for w in $words; complete -C $w; echo ---; end"
    asked = ["sardonyx inf", "sardonyx info --colo", "sardonyx info --color ne", "sardonyx completion z"]
    words = "set words " + " ".join(f"'{w}'" for w in asked) + "; "
    answers = [
        [line.split("\t")[0] for line in part.split("\n") if line]
        for part in in_shell("fish", words + script).split("---")
    ]
    assert answers[:4] == [["info"], ["--color"], ["never"], ["zsh"]]


def test_zsh_takes_its_completions():
    script = 'autoload -Uz compinit; compinit -u -D; source <(sardonyx completion zsh); print -r -- "$_comps[sardonyx]"'
    assert in_shell("zsh", script).strip() == "_sardonyx"


def test_manual_is_good_roff(tmp_path):
    page = run("man")[0]
    done = subprocess.run(["groff", "-man", "-ww", "-Tascii"], input=page, capture_output=True, text=True)
    assert done.returncode == 0 and done.stderr == ""
    plain = re.sub(r"\x1b\[\d+m|.\x08", "", done.stdout)
    for part in ("EXIT STATUS", "130", "--in-place", "SARDONYX_ISA", "sardonyx external MODEL"):
        assert part in plain


@pytest.mark.parametrize(
    ("words", "status", "said"),
    [
        (["inof"], 2, "there is no verb 'inof'; did you mean 'info'?"),
        (["tens"], 2, "did you mean 'tensors'?"),
        (["xyzzy"], 2, "there is no verb 'xyzzy'\n"),
        (["m.onnx"], 2, "`sardonyx info m.onnx`"),
        (["--json"], 2, "the verb comes first"),
        (["info"], 2, "MODEL is missing: the model to read"),
        (["info", "a", "b"], 2, "'b' is one word too many"),
        (["info", "a", "--jsno"], 2, "there is no option '--jsno'; did you mean '--json'?"),
        (["info", "a", "-x"], 2, "there is no option '-x'"),
        (["info", "a", "--top"], 2, "--top needs a value: --top N"),
        (["info", "a", "--top", "--json"], 2, "--top needs a value, found the option '--json'"),
        (["info", "a", "--top", "many"], 2, "--top expects a whole number, not negative, found 'many'"),
        (["info", "a", "--top=-1"], 2, "not negative, found '-1'"),
        (["info", "a", "--top", "1", "--top", "2"], 2, "--top was given twice"),
        (["info", "a", "--json=yes"], 2, "--json takes no value"),
        (["info", "a", "--color", "red"], 2, "--color expects auto, always or never, found 'red'"),
        (["profile", "a", "--runs", "0"], 2, "--runs expects a number of at least 1"),
        (["copy", "a"], 2, "--output MODEL is missing"),
        (["copy", "a", "-o", "b", "--split", "--inside"], 2, "--split and --inside exclude each other"),
    ],
)
def test_wrong_usage(words, status, said, tmp_path):
    out, error = run(*words, status=status, cwd=tmp_path)
    assert out == "" and error.startswith("error: ") and said in error


def test_values_in_every_spelling(tmp_path):
    for words in (["-o", "x.onnx"], ["-ox.onnx"], ["--output", "x.onnx"], ["--output=x.onnx"]):
        run("copy", DIGITS, *words, cwd=tmp_path)
        assert (tmp_path / "x.onnx").read_bytes() == DIGITS.read_bytes()
        (tmp_path / "x.onnx").unlink()
    (tmp_path / "--odd.onnx").write_bytes(DIGITS.read_bytes())
    run("info", "--", "--odd.onnx", cwd=tmp_path)
    run("info", "--odd.onnx", cwd=tmp_path, status=2)


def test_a_mistyped_file(tmp_path):
    (tmp_path / "models").mkdir()
    (tmp_path / "models/resnet.onnx").write_bytes(DIGITS.read_bytes())
    for word, said in (
        ("models/resent.onnx", "no such file\nDid you mean 'models/resnet.onnx'?"),
        ("models/resnet.onx", "Did you mean 'models/resnet.onnx'?"),
        ("model/resnet.onnx", "there is no folder 'model'\nDid you mean 'models/resnet.onnx'?"),
        ("models/something_else.onnx", "no such file\nModels in 'models': resnet.onnx."),
        ("models", "this is a folder; the models in it are resnet.onnx"),
        ("nowhere/at/all.onnx", "there is no folder 'nowhere'\n"),
    ):
        assert said in run("info", word, status=3, cwd=tmp_path)[1]
    words = ["run", "models/resnet.onnx", "--input"]
    assert "no such file" in run(*words, "image=pic.npy", status=3, cwd=tmp_path)[1]
    assert "no such file or folder" in run("test", "modles", status=3, cwd=tmp_path)[1]
    (tmp_path / "a=b.npy").touch()
    words = ["tensors", "models/resnet.onnx", "-o", "x.onnx", "--replace"]
    assert "no such file" not in run(*words, "conv1.bias=a=b.npy", status=3, cwd=tmp_path)[1]


def test_a_reader_that_has_seen_enough():
    script = 'set -o pipefail; "$0" man | head -1'
    done = subprocess.run(["bash", "-c", script, PROGRAM], capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")
    full = subprocess.run(["bash", "-c", '"$0" man > /dev/full', PROGRAM], capture_output=True, text=True)
    assert full.returncode == 4 and "cannot write to standard output" in full.stderr


def test_environment(monkeypatch):
    monkeypatch.setenv("SARDONYX_THREADS", "many")
    assert "SARDONYX_THREADS=many: expected a number" in run("run", DIGITS, "--random", status=2)[1]
    monkeypatch.setenv("SARDONYX_THREADS", "1")
    monkeypatch.setenv("SARDONYX_LOG", "loud")
    assert "SARDONYX_LOG=loud: expected error, warn" in run("run", DIGITS, "--random", status=2)[1]
    monkeypatch.setenv("SARDONYX_LOG", "debug")
    run("run", DIGITS, "--random")
    assert run("info", "--version")[0] == run("--version")[0]


def test_installation(tmp_path):
    build = ROOT / "build/release"
    words = ["cmake", "--install", build, "--prefix", tmp_path, "--component", "Unspecified"]
    subprocess.run(words, check=True, stdout=subprocess.DEVNULL)
    for file in (
        "bin/sardonyx",
        "share/man/man1/sardonyx.1",
        "share/bash-completion/completions/sardonyx",
        "share/zsh/site-functions/_sardonyx",
        "share/fish/vendor_completions.d/sardonyx.fish",
    ):
        assert (tmp_path / file).stat().st_size > 1000
