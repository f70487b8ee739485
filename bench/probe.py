# SPDX-License-Identifier: Apache-2.0
"""One engine, one model, one fresh process: seconds to load, to run first, and anonymous memory afterwards.

python bench/probe.py ENGINE MODEL THREADS FEED.pickle: one JSON document on standard output.
"""

import importlib
import json
import pickle
import sys
import time


def anonymous_bytes() -> int:
    with open("/proc/self/status") as status:
        return next(int(line.split()[1]) * 1024 for line in status if line.startswith("RssAnon"))


def main() -> None:
    engine, model, threads, feed_file = sys.argv[1:]
    ort = importlib.import_module(engine)
    with open(feed_file, "rb") as file:
        feed = pickle.load(file)
    options = ort.SessionOptions()
    options.intra_op_num_threads = int(threads)
    options.log_severity_level = 3
    before = anonymous_bytes()
    start = time.perf_counter()
    session = ort.InferenceSession(model, options, providers=["CPUExecutionProvider"])
    loaded = time.perf_counter()
    results = session.run(None, feed)
    ran = time.perf_counter()
    after = anonymous_bytes()
    del results
    print(json.dumps({"load": loaded - start, "first": ran - loaded, "memory": after - before}))


if __name__ == "__main__":
    main()
