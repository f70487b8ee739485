# SPDX-License-Identifier: Apache-2.0
"""Runs the jobs of probe.cc, and makes wire bytes by hand."""

import os
import struct
import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PROBE = Path(os.environ.get("SARDONYX_BUILD", ROOT / "build" / "release")) / "tests" / "onnx" / "onnx_probe"


def run_jobs(jobs, timeout=600, **options):
    """One answer for each job (a sequence of words); fails if the program ends in any other way than at the end."""
    text = "".join("\t".join(str(word) for word in job) + "\n" for job in jobs)
    done = subprocess.run([PROBE], input=text.encode(), capture_output=True, timeout=timeout, **options)
    answers = done.stdout.decode(errors="replace").splitlines()
    place = jobs[len(answers)] if len(answers) < len(jobs) else None
    assert done.returncode == 0, f"status {done.returncode} at {place}: {done.stderr.decode()[-2000:]}"
    return answers


def run_job(*words):
    return run_jobs([words])[0]


def varint(value, width=0):
    """A varint, padded to `width` bytes."""
    value &= (1 << 64) - 1
    out = bytearray()
    while value >= 0x80:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)
    while len(out) < width:
        out[-1] |= 0x80
        out.append(0)
    return bytes(out)


def tag(number, wire):
    return varint(number << 3 | wire)


def num(number, value, width=0):
    return tag(number, 0) + varint(value, width)


def fixed32(number, value):
    return tag(number, 5) + struct.pack("<f", value)


def msg(number, *parts, width=0):
    """A length-delimited field: a message, a text, packed numbers."""
    body = b"".join(part.encode() if isinstance(part, str) else part for part in parts)
    return tag(number, 2) + varint(len(body), width) + body


def group(number, *parts):
    return tag(number, 3) + b"".join(parts) + tag(number, 4)
