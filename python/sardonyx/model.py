# SPDX-License-Identifier: Apache-2.0
"""The short way: `sardonyx.load(path)(x)`."""

import os

from . import _sardonyx
from .options import RunOptions, SessionOptions
from .session import InferenceSession


class Model:
    """A loaded model that is called like a function: arrays in by position or by name, one array or a tuple out."""

    def __init__(self, session: InferenceSession) -> None:
        self.session = session
        self._run = session.run
        self.inputs = session.get_inputs()
        self.outputs = session.get_outputs()
        self._names = [value.name for value in self.inputs]

    def __call__(self, *args, timeout: float | None = None, **kwargs):
        feed = dict(zip(self._names, args, strict=False)) if args else kwargs
        if args and (kwargs or len(args) > len(feed)):
            self._add(feed, args, kwargs)
        results = self._run(None, feed, RunOptions(timeout) if timeout else None)
        return results[0] if len(results) == 1 else tuple(results)

    def _add(self, feed: dict, args: tuple, kwargs: dict) -> None:
        if len(args) > len(self._names):
            raise TypeError(f"{self._name()} takes {len(self._names)} inputs, {len(args)} were given")
        twice = feed.keys() & kwargs.keys()
        if twice:
            raise TypeError(f"input '{twice.pop()}' is given by position and by name")
        feed.update(kwargs)

    def explain(self) -> dict:
        return self.session.explain()

    def _name(self) -> str:
        path = self.session._model_path
        return os.path.basename(path) if path else "the model"

    def __repr__(self) -> str:
        rows = [("in", v.name, v._text) for v in self.inputs] + [
            ("out", v.name, v._text) for v in self.outputs
        ]
        width = max((len(name) for _, name, _ in rows), default=0)
        lines = [f"  {way:3}  {name:{width}}  {text}" for way, name, text in rows]
        return "\n".join([f"<sardonyx.Model {self._name()}", *lines]) + ">"


def load(
    path_or_bytes,
    *,
    threads: int = 0,
    rules: bool = True,
    providers=None,
    dims: dict[str, int] | None = None,
    plugins=(),
    taps=(),
    copy: bool = False,
    memory_limit: int | str = 0,
) -> Model:
    """Makes a model ready to be called.

    `dims` fixes named dimensions ahead, `taps` names inner values that become outputs after the model's own,
    `rules=False` runs the graph as it is written, `copy=True` reads the file whole instead of mapping it, for places
    where another program may cut it meanwhile. `memory_limit` is the most memory that the model may hold, in bytes or as
    "500M", "2G" or "80%" of what the machine has.
    """
    options = SessionOptions()
    options.load_copy = copy
    options.intra_op_num_threads = threads
    options.memory_limit = memory_limit
    if not rules:
        options.graph_optimization_level = 0
    options.plugins, options.taps = list(plugins), list(taps)
    for name, size in (dims or {}).items():
        options.add_free_dimension_override_by_name(name, size)
    return Model(InferenceSession(path_or_bytes, options, providers))


def explain(path_or_bytes, **options) -> dict:
    """What would run: {"isa", "providers", "packed_bytes", "rewrites", "steps": [{"step", "kernel", "provider",
    "layout", "result", "fused", "claims", "depth"}]}. Options are those of load()."""
    return load(path_or_bytes, **options).explain()


def evaluate(path_or_bytes, feed: dict, float64: bool = True) -> list:
    """Runs a model by the operators' own definitions, slowly and plainly, by default in float64: the outputs that a
    faster run is measured against."""
    source = path_or_bytes if isinstance(path_or_bytes, bytes) else os.fsdecode(os.fspath(path_or_bytes))
    return _sardonyx.evaluate(source, feed, float64)
