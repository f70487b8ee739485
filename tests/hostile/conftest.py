# SPDX-License-Identifier: Apache-2.0
import pickle
import subprocess
import sys
from pathlib import Path

import pytest


@pytest.fixture(scope="session")
def worker():
    """A function that hands a job to hostile_worker.py and gives back its answer."""
    script = Path(__file__).with_name("hostile_worker.py")
    process = subprocess.Popen([sys.executable, script], stdin=subprocess.PIPE, stdout=subprocess.PIPE)

    def ask(job):
        pickle.dump(job, process.stdin)
        process.stdin.flush()
        return pickle.load(process.stdout)

    yield ask
    process.stdin.close()
    assert process.wait(30) == 0
