# SPDX-License-Identifier: Apache-2.0
"""The deep checks of `make check`, after the release build; goes on after a failure and says what took how long.

python scripts/check.py [STEP ...]: all steps, or only those named.
"""

import base64
import os
import platform
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
CORES = str(os.cpu_count() or 1)
RELEASE, SANITIZED, THREADS = "build/release", "build/fuzz", "build/tsan"
PROGRAM, MODELS = "build/sardonyx", ["build/test_models", "models/digits"]
FUZZ_SECONDS = int(os.environ.get("SX_FUZZ_SECONDS", "60"))

STEPS: dict[str, Callable[[], None]] = {}


class Failed(Exception):
    pass


def step(function: Callable[[], None]) -> Callable[[], None]:
    STEPS[function.__name__] = function
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
    command = ["ctest", "--test-dir", folder, "-j", CORES, "--output-on-failure", "--no-tests=ignore"]
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
    configured("fuzz")
    # Generated headers must be there before clang-tidy looks for them.
    sh("ninja", "-C", SANITIZED, "--quiet")
    sh(sys.executable, "scripts/tidy.py", SANITIZED)


@step
def levels() -> None:
    """The unit tests and the models at each vector level below the machine's own."""
    for level in ("baseline", "avx2"):
        ctest(RELEASE, SARDONYX_ISA=level)
        sh(PROGRAM, "test", *MODELS, SARDONYX_ISA=level)


@step
def random() -> None:
    """Random nodes, graphs and wrong inputs: cpu beside the reference, float64 and onnxruntime."""
    sh(sys.executable, "tests/random/run.py", "--seed", "1", "--count", "4500")


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


@step
def sanitizers() -> None:
    """Everything under the address and undefined behaviour sanitizers, compiled by clang."""
    configured("fuzz")
    sh("ninja", "-C", SANITIZED, "--quiet")
    options = {"ASAN_OPTIONS": "detect_stack_use_after_return=1", "UBSAN_OPTIONS": "print_stacktrace=1"}
    ctest(SANITIZED, **options)
    program = f"{SANITIZED}/tools/sardonyx"
    sh(program, "test", *MODELS, **options)


@step
def fuzz() -> None:
    """Each fuzzer for a minute (SX_FUZZ_SECONDS), from its seeds and from what earlier runs here found.

    SX_FUZZ_SEED takes other random numbers. Runs differ all the same (the fuzzer learns from addresses too),
    so a failure says the input that made it.
    """
    failed = []
    for fuzzer in sorted((ROOT / SANITIZED / "fuzzers").glob("fuzz_*")):
        corpus = ROOT / "build" / "corpus" / fuzzer.name
        corpus.mkdir(parents=True, exist_ok=True)
        options = [
            f"-max_total_time={FUZZ_SECONDS}",
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
            failed.append("\n  ".join([fuzzer.name, *inputs]))
    if failed:
        raise Failed(", ".join(failed))


@step
def threads() -> None:
    """The tests with the label `threads` under the thread sanitizer."""
    configured("tsan")
    sh("ninja", "-C", THREADS, "--quiet", "sx_thread_tests")
    ctest(THREADS, "-L", "threads", TSAN_OPTIONS="halt_on_error=1")


def main() -> int:
    names = sys.argv[1:] or list(STEPS)
    if unknown := [name for name in names if name not in STEPS]:
        print(f"no step {', '.join(unknown)}; there are: {', '.join(STEPS)}", file=sys.stderr)
        return 2
    rows, failures = [], 0
    for name in names:
        print(f"== {name}", flush=True)
        start = time.monotonic()
        try:
            STEPS[name]()
            answer = "ok"
        except Failed as why:
            answer, failures = f"FAILED: {why}", failures + 1
        rows.append(f"{name:<12} {time.monotonic() - start:7.1f} s  {answer}")
    print("\n".join(["", *rows]))
    print(f"{len(names) - failures} passed, {failures} failed")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
