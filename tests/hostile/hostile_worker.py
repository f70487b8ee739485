# SPDX-License-Identifier: Apache-2.0
"""Answers hostile cases, or runs the program on them, each in a forked child of its own under limits: jobs come as
pickles on standard input, what the child said and used goes to standard output. It stays small, because a child's
largest resident size begins with that of the process that it was forked from."""

import os
import pickle
import resource
import select
import signal
import sys
import time

import numpy as np

import sardonyx

LIMITED = not os.environ.get("SARDONYX_SANITIZED")  # sanitizers map terabytes
MOST_MEMORY = 4 << 30
MOST_CPU_SECONDS = 4 if LIMITED else 60
MOST_WALL_SECONDS = 20 if LIMITED else 200


X = np.arange(6, dtype=np.float32).reshape(2, 3)
STRANGE = {  # arrays that a pickle would make plain
    "@transposed": lambda: np.asfortranarray(X),
    "@every second column": lambda: np.arange(12, dtype=np.float32).reshape(2, 6)[:, ::2],
    "@backwards": lambda: X[::-1, ::-1],
    "@one row a thousand times": lambda: np.broadcast_to(X[:1], (1000, 3)),
    "@one number 3 * 10^12 times": lambda: np.broadcast_to(np.float32(1), (10**12, 3)),
    "@not aligned": lambda: np.frombuffer(b"\0" + X.tobytes(), np.uint8)[1:].view(np.float32).reshape(2, 3),
    "@read-only": lambda: np.frombuffer(X.tobytes(), np.float32).reshape(2, 3),
    "@rows that overlap": lambda: np.lib.stride_tricks.as_strided(X, (2, 3), (4, 4)),
}


def load(path, options):
    return sardonyx.load(path, **options).session


def run(path, feeds, options):
    control = sardonyx.RunOptions(options.pop("timeout", 0))
    return load(path, options).run(None, feeds, control)


def run_twice(path, feeds, options):
    """The first feeds fail, the session is used again: feeds that end in "!" are those of the second run."""
    session = load(path, options)
    first = {name: value for name, value in feeds.items() if not name.endswith("!")}
    try:
        session.run(None, first)
    except sardonyx.SardonyxError:
        return session.run(None, {name[:-1]: value for name, value in feeds.items() if name.endswith("!")})
    raise AssertionError("the first run must fail")


def bind_small(path, feeds, options):
    """An output bound to memory that is too small for it."""
    session = load(path, options)
    binding = session.io_binding()
    for name, value in feeds.items():
        binding.bind_cpu_input(name, value)
    wrong = np.zeros(1, np.float32)
    binding.bind_output("y", "cpu", 0, np.float32, [1], wrong.ctypes.data)
    session.run_with_iobinding(binding)
    return binding.copy_outputs_to_cpu()


ACTIONS = {"run": run, "run_twice": run_twice, "bind_small": bind_small}


def answer(job):
    try:
        feeds = {name: STRANGE[v]() if isinstance(v, str) else v for name, v in job["feeds"].items()}
        return "gives", ACTIONS[job["action"]](job["path"], feeds, dict(job["options"]))
    except AssertionError:
        raise
    except Exception as error:
        ours = isinstance(error, sardonyx.SardonyxError | ValueError | TypeError)
        return "says" if ours else "raises", f"{type(error).__name__}: {error}"


def limit():
    if LIMITED:
        resource.setrlimit(resource.RLIMIT_AS, (MOST_MEMORY, MOST_MEMORY))
    resource.setrlimit(resource.RLIMIT_CPU, (MOST_CPU_SECONDS, MOST_CPU_SECONDS + 1))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def child(job, pipe):
    limit()
    if "words" in job:
        for number, name in enumerate((os.devnull, job["out"], job["err"])):
            os.dup2(os.open(name, os.O_RDWR | os.O_CREAT | os.O_TRUNC), number)
        os.execv(job["words"][0], job["words"])
    data = pickle.dumps(answer(job))
    with os.fdopen(pipe, "wb") as out:
        out.write(data)


def judge(job):
    """What a forked child answers, with its signal, processor time and largest resident size."""
    reading, writing = os.pipe()
    pid = os.fork()
    if pid == 0:
        status = 1
        try:
            os.close(reading)
            child(job, writing)
            status = 0
        finally:
            os._exit(status)
    os.close(writing)
    data, end = b"", time.monotonic() + MOST_WALL_SECONDS
    while True:
        ready, _, _ = select.select([reading], [], [], max(0, end - time.monotonic()))
        if not ready:
            os.kill(pid, signal.SIGKILL)
            break
        part = os.read(reading, 1 << 20)
        if not part:
            break
        data += part
    os.close(reading)
    _, status, used = os.wait4(pid, 0)
    code = os.waitstatus_to_exitcode(status)
    kind, what = pickle.loads(data) if data else ("exits", code)
    return {
        "kind": kind,
        "what": what,
        "cpu": used.ru_utime + used.ru_stime,
        "megabytes": used.ru_maxrss >> 10,
    }


def main():
    jobs, answers = sys.stdin.buffer, os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # what a child prints must not come between answers
    while True:
        try:
            job = pickle.load(jobs)
        except EOFError:
            return
        pickle.dump(judge(job), answers)
        answers.flush()


if __name__ == "__main__":
    main()
