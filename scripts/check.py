# SPDX-License-Identifier: Apache-2.0
"""The checks of `make check`, after the release build; goes on after a failure and says what took how long.

python scripts/check.py [STEP ...]: all steps, or only those named.
python scripts/check.py --deep [STEP ...]: the steps of `make deep`, which take hours and which a person starts.
"""

import base64
import os
import platform
import subprocess
import sys
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
CORES = str(os.cpu_count() or 1)
RELEASE = "build/release"
PROGRAM, MODELS = "build/sardonyx", ["build/test_models", "models/digits"]
SANITIZER_OPTIONS = {
    "ASAN_OPTIONS": "detect_stack_use_after_return=1",
    "UBSAN_OPTIONS": "print_stacktrace=1",
    "TSAN_OPTIONS": "halt_on_error=1",
}
OFFICIAL = "tests/official"
HOSTILE = ["tests/onnx/test_hostile.py", "tests/tools/test_hostile_files.py"]

STEPS: dict[str, Callable[[], None]] = {}
DEEP_STEPS: dict[str, Callable[[], None]] = {}


class Failed(Exception):
    pass


def step(function: Callable[[], None]) -> Callable[[], None]:
    STEPS[function.__name__] = function
    return function


def deep_step(function: Callable[[], None]) -> Callable[[], None]:
    DEEP_STEPS[function.__name__] = function
    return function


def sh(*command: str, **environment: str) -> None:
    print("+", *[f"{name}={value}" for name, value in environment.items()], *command, flush=True)
    status = subprocess.run(command, cwd=ROOT, env={**os.environ, **environment}).returncode
    if status != 0:
        raise Failed(f"{command[0]} ended with {status}")


def tracked(*patterns: str) -> list[str]:
    listing = subprocess.run(
        ["git", "ls-files", *patterns], cwd=ROOT, capture_output=True, text=True, check=True
    )
    return [name for name in listing.stdout.splitlines() if (ROOT / name).exists()]


def configured(preset: str) -> None:
    """Configures once; ninja does it again by itself when a CMake file changes."""
    if not (ROOT / "build" / preset / "build.ninja").exists():
        sh("cmake", "--preset", preset, "--log-level=WARNING")


def ctest(folder: str, *options: str, **environment: str) -> None:
    command = ["ctest", "--test-dir", folder, "-j", CORES, "--output-on-failure", "--no-tests=error"]
    sh(*command, "--progress", *options, **environment)


@step
def format() -> None:
    if files := tracked("*.cc", "*.h", "*.hpp", "*.c"):
        sh("clang-format-14", "--dry-run", "-Werror", *files)
    sh(sys.executable, "-m", "ruff", "format", "-q", "--check", ".")
    sh(sys.executable, "-m", "ruff", "check", "-q", ".")


@step
def guards() -> None:
    failed = []
    for guard in sorted((ROOT / "scripts" / "guards").glob("*.py")):
        if guard.stem != "common" and subprocess.run([sys.executable, str(guard)], cwd=ROOT).returncode != 0:
            failed.append(guard.stem)
    if failed:
        raise Failed(", ".join(failed))


@step
def tidy() -> None:
    """clang-tidy, in a build folder without compiled headers: a file that lacks an include does not pass.

    Operators are read in batches, so a missing one may hide there; `includes` of the deep steps finds it.
    """
    configured("tidy")
    sh(sys.executable, "scripts/tidy.py", "build/tidy")


@step
def levels() -> None:
    """The unit tests and the models at each vector level below the machine's own.

    Tests with the label `levels` switch levels themselves.
    """
    for level in ("baseline", "avx2"):
        ctest(RELEASE, "-LE", "levels", SARDONYX_ISA=level)
        sh(PROGRAM, "test", *MODELS, SARDONYX_ISA=level)


@step
def random() -> None:
    """Random nodes, graphs, wrong inputs and mutants: cpu beside the reference, float64 and onnxruntime."""
    sh(sys.executable, "tests/random/run.py", "--seed", "1", "--count", "4500")
    sh(sys.executable, "tests/random/run.py", "--seed", "1", "--count", "2500", "--kind", "mutant")


@step
def old_machine() -> None:
    """The models on an emulated processor of 2008, which has no AVX at all."""
    if platform.machine() != "x86_64":
        print("skipped: only on x86-64")
        return
    sh("qemu-x86_64-static", "-cpu", "Nehalem", PROGRAM, "test", *MODELS)


@step
def wheel() -> None:
    """`pip install .` makes a module that imports and runs the bundled model from an empty place."""
    target = "build/wheel_test"
    sh("rm", "-rf", target)
    options = ["--no-build-isolation", "--no-deps", "--no-index", "-q", "--disable-pip-version-check"]
    launcher = str(ROOT / "scripts" / "compile.sh")
    sh(
        sys.executable,
        "-m",
        "pip",
        "install",
        *options,
        "--target",
        target,
        ".",
        CC="cc",  # by the names that the release build calls them, so that ccache knows its objects again
        CXX="c++",
        CMAKE_CXX_COMPILER_LAUNCHER=launcher,
    )
    program = (
        "import numpy, sardonyx, sys; assert sys.argv[1] in sardonyx.__file__, sardonyx.__file__;"
        "y = sardonyx.load('models/digits/digits.onnx')(numpy.load('models/digits/sample_3.npy'));"
        "print(sardonyx.__version__, numpy.asarray(y).argmax())"
    )
    sh(sys.executable, "-c", program, target, PYTHONPATH=str(ROOT / target))


def sanitized_python(folder: str, *tests: str, **environment: str) -> None:
    """Python tests that run a program: the one of this build folder."""
    where = {"SARDONYX": str(ROOT / folder / "tools/sardonyx"), "SARDONYX_BUILD": str(ROOT / folder)}
    sh(
        sys.executable,
        "-m",
        "pytest",
        *tests,
        **where,
        SARDONYX_SANITIZED="1",
        **SANITIZER_OPTIONS,
        **environment,
    )


def built(preset: str, *targets: str) -> str:
    configured(preset)
    sh("ninja", "-C", f"build/{preset}", "--quiet", *targets)
    return f"build/{preset}"


@step
def sanitizers() -> None:
    """Unit tests, models, official cases and hostile files under the address and undefined behaviour sanitizers.

    The tables of operators and rules take every eighth of their ways.
    """
    folder = built("fuzz")
    ctest(folder, SX_WAYS_SHARE="8", **SANITIZER_OPTIONS)
    sh(f"{folder}/tools/sardonyx", "test", *MODELS, **SANITIZER_OPTIONS)
    sanitized_python(folder, OFFICIAL, *HOSTILE)


def fuzz_for(seconds: int) -> None:
    """Each fuzzer for so long, as many at once as there are cores, from its seeds and from what earlier runs found.

    SX_FUZZ_SEED takes other random numbers. Runs differ all the same (the fuzzer learns from addresses too),
    so a failure says the input that made it.
    """
    folder = built("fuzz", "sx_fuzzers")
    fuzzers = sorted((ROOT / folder / "fuzzers").glob("fuzz_*"))
    if not fuzzers:
        raise Failed("there is no fuzz target")
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        answers = list(pool.map(lambda fuzzer: fuzz_one(fuzzer, seconds), fuzzers))
    if failed := [answer for answer in answers if answer]:
        raise Failed("\n".join(failed))


def fuzz_one(fuzzer: Path, seconds: int) -> str:
    """Empty, or the name of the fuzzer and the inputs on which it failed."""
    corpus = ROOT / "build" / "corpus" / fuzzer.name
    corpus.mkdir(parents=True, exist_ok=True)
    options = [
        f"-max_total_time={seconds}",
        f"-seed={os.environ.get('SX_FUZZ_SEED', '1')}",
        "-timeout=10",
        "-rss_limit_mb=3000",
        "-print_final_stats=1",
        "-print_funcs=0",
        "-verbosity=0",
        f"-artifact_prefix={corpus.parent}/{fuzzer.name}-",
    ]
    before = set(corpus.parent.glob(f"{fuzzer.name}-*"))
    try:
        sh(str(fuzzer), *options, str(corpus), str(ROOT / "tests" / "fuzz" / fuzzer.name))
    except Failed:
        found = set(corpus.parent.glob(f"{fuzzer.name}-*")) - before
        inputs = [f"{f.name} in base64: {base64.b64encode(f.read_bytes()).decode()}" for f in found]
        return "\n  ".join([fuzzer.name, *inputs])
    return ""


@step
def fuzz() -> None:
    fuzz_for(int(os.environ.get("SX_FUZZ_SECONDS", "20")))


@step
def threads() -> None:
    """The tests with the label `threads`, and the official cases on the cpu provider, under the thread sanitizer."""
    folder = built("tsan", "sx_thread_tests", "sardonyx")
    ctest(folder, "-L", "threads", **SANITIZER_OPTIONS)
    sanitized_python(folder, OFFICIAL, SX_OFFICIAL_WAYS="cpu")


@deep_step
def includes() -> None:
    """Every file by itself and without compiled headers: each includes what it uses."""
    sh("cmake", "--preset", "tidy", "-B", "build/includes", "-DSX_UNITY=OFF", "--log-level=WARNING")
    sh("ninja", "-C", "build/includes", "--quiet", "-k", "0")


@deep_step
def fuzz_long() -> None:
    """Each fuzzer for an hour (SX_FUZZ_SECONDS)."""
    fuzz_for(int(os.environ.get("SX_FUZZ_SECONDS", "3600")))


@deep_step
def every_way() -> None:
    """The tables of operators and rules, all of their ways, under the address sanitizer."""
    ctest(built("fuzz"), "-L", "levels", **SANITIZER_OPTIONS)


@deep_step
def random_million() -> None:
    """A million random cases (SX_RANDOM_CASES), a tenth of them under the address sanitizer. SX_RANDOM_SEED: others."""
    cases, seed = int(os.environ.get("SX_RANDOM_CASES", "1000000")), os.environ.get("SX_RANDOM_SEED", "2")
    campaign = [
        sys.executable,
        "tests/random/run.py",
        "--seed",
        seed,
        "--findings",
        "build/random",
        "--verbose",
    ]
    sanitized = cases // 10
    sh(*campaign, "--count", str(cases - sanitized))
    configured("fuzz")
    sh(
        "cmake",
        "-B",
        "build/fuzz",
        "-DSX_PYTHON=ON",
        f"-DPython_EXECUTABLE={sys.executable}",
        "--log-level=WARNING",
    )
    folder = built("fuzz", "python/all")
    # Python itself has no sanitizer in it, so the library of the sanitizer comes first.
    command = ["clang-14", "--print-file-name=libclang_rt.asan-x86_64.so"]
    library = subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()
    options = {
        # What is freed is kept for a while, which must not look like growth.
        "ASAN_OPTIONS": "detect_leaks=0:detect_stack_use_after_return=1:quarantine_size_mb=32",
        "UBSAN_OPTIONS": "print_stacktrace=1",
    }
    sh(
        *campaign,
        "--first",
        str(cases),
        "--count",
        str(sanitized),
        "--no-onnxruntime",
        LD_PRELOAD=library,
        PYTHONPATH=str(ROOT / folder / "python"),
        **options,
    )


@deep_step
def mutants() -> None:
    """Official cases with some of what they say changed (SX_MUTANTS), on the cpu provider beside the reference."""
    count, seed = os.environ.get("SX_MUTANTS", "1000000"), os.environ.get("SX_RANDOM_SEED", "2")
    sh(
        sys.executable,
        "tests/random/run.py",
        "--kind",
        "mutant",
        "--count",
        count,
        "--seed",
        seed,
        "--verbose",
    )


@deep_step
def models_with_threads() -> None:
    """The stand-in models under the thread sanitizer."""
    folder = built("tsan", "sardonyx")
    sh(f"{folder}/tools/sardonyx", "test", *MODELS, "--threads", "2", **SANITIZER_OPTIONS)


def main() -> int:
    deep = sys.argv[1:2] == ["--deep"]
    steps = DEEP_STEPS if deep else STEPS
    names = sys.argv[2 if deep else 1 :] or list(steps)
    if unknown := [name for name in names if name not in steps]:
        print(f"no step {', '.join(unknown)}; there are: {', '.join(steps)}", file=sys.stderr)
        return 2
    rows, failures = [], 0
    for name in names:
        print(f"== {name}", flush=True)
        start = time.monotonic()
        try:
            steps[name]()
            answer = "ok"
        except Failed as why:
            answer, failures = f"FAILED: {why}", failures + 1
        rows.append(f"{name:<20} {time.monotonic() - start:7.1f} s  {answer}")
    print("\n".join(["", *rows]))
    print(f"{len(names) - failures} passed, {failures} failed")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
