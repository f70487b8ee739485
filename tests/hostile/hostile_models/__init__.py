# SPDX-License-Identifier: Apache-2.0
"""Models that mean harm to load, inference, folding and runs, by theme. CASES maps a name to its case; a new one is a
few lines with case() in the file of its theme."""

from . import (
    contents,
    control_flow,
    feeds_and_options,
    folding,
    functions,
    growth,
    late_sizes,
    learned_tables,
    shape_arithmetic,
    signals_and_pictures,
    windows,
    wrong_kinds,
)
from .build import CASES

__all__ = [
    "CASES",
    "contents",
    "control_flow",
    "feeds_and_options",
    "folding",
    "functions",
    "growth",
    "late_sizes",
    "learned_tables",
    "shape_arithmetic",
    "signals_and_pictures",
    "windows",
    "wrong_kinds",
]
