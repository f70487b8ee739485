# SPDX-License-Identifier: Apache-2.0
"""One engine, one model, one fresh process: seconds to load, to run first, and anonymous memory afterwards.

python bench/fresh_process.py ENGINE MODEL THREADS FEED.pickle [SECONDS [RESULTS.pickle]]: one JSON document on standard output.
With SECONDS it goes on for so long and tells the median of the runs after the first few as `steady`; RESULTS gets what
the first run gave.

A virtual machine may have given its free memory back to the host, and then pays ten times as much for the first touch of
a page: so memory for several copies of the model is touched and freed again before the clock starts, as it would be there
on a machine of its own. FRESH_MEMORY=1 leaves that out.
"""

import importlib
import json
import mmap
import os
import pickle
import statistics
import sys
import time

WARM_RUNS = 3
COPIES, SPARE = 4, 256 << 20  # of the model, bytes: more than either engine takes to load one


def anonymous_bytes() -> int:
    with open("/proc/self/status") as status:
        return next(int(line.split()[1]) * 1024 for line in status if line.startswith("RssAnon"))


def bring_memory(size: int) -> None:
    with mmap.mmap(-1, size, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS) as memory:
        if hasattr(mmap, "MADV_HUGEPAGE"):
            memory.madvise(mmap.MADV_HUGEPAGE)
        for page in range(0, size, mmap.PAGESIZE):
            memory[page] = 1


def steady(run, seconds: float) -> float:
    samples: list[float] = []
    end = time.perf_counter() + seconds
    while len(samples) < WARM_RUNS + 3 or time.perf_counter() < end:
        start = time.perf_counter()
        run()
        samples.append(time.perf_counter() - start)
    return statistics.median(samples[WARM_RUNS:])


def main() -> None:
    engine, model, threads, feed_file = sys.argv[1:5]
    ort = importlib.import_module(engine)
    with open(feed_file, "rb") as file:
        feed = pickle.load(file)
    options = ort.SessionOptions()
    options.intra_op_num_threads = int(threads)
    options.log_severity_level = 3
    if not os.environ.get("FRESH_MEMORY"):
        bring_memory(COPIES * os.path.getsize(model) + SPARE)
    before = anonymous_bytes()
    start = time.perf_counter()
    session = ort.InferenceSession(model, options, providers=["CPUExecutionProvider"])
    loaded = time.perf_counter()
    results = session.run(None, feed)
    ran = time.perf_counter()
    after = anonymous_bytes()
    found = {"load": loaded - start, "first": ran - loaded, "memory": after - before}
    if len(sys.argv) > 5:
        found["steady"] = steady(lambda: session.run(None, feed), float(sys.argv[5]))
    if len(sys.argv) > 6:
        with open(sys.argv[6], "wb") as file:
            pickle.dump(results, file)
    print(json.dumps(found))


if __name__ == "__main__":
    main()
