# SPDX-License-Identifier: Apache-2.0
"""SessionOptions and RunOptions, with the attributes that onnxruntime's have."""

import enum
import logging
import operator

from . import _sardonyx

_LOGGER = logging.getLogger("sardonyx")
_LEVELS = (logging.DEBUG, logging.INFO, logging.WARNING, logging.ERROR)


class GraphOptimizationLevel(enum.IntEnum):
    ORT_DISABLE_ALL = 0
    ORT_ENABLE_BASIC = 1
    ORT_ENABLE_EXTENDED = 2
    ORT_ENABLE_LAYOUT = 3
    ORT_ENABLE_ALL = 99


class ExecutionMode(enum.IntEnum):
    ORT_SEQUENTIAL = 0
    ORT_PARALLEL = 1


class ExecutionOrder(enum.IntEnum):
    DEFAULT = 0
    PRIORITY_BASED = 1
    MEMORY_EFFICIENT = 2


def _log(level: int, message: str) -> None:
    _LOGGER.log(_LEVELS[min(level, 3)], message)


def _whole(name: str, value) -> int:
    try:
        return operator.index(value)
    except TypeError:
        raise TypeError(f"{name} is {value!r}, expected a whole number") from None


def _bytes(size: int | str) -> int:
    if isinstance(size, str):
        return _sardonyx.parse_memory(size)
    if isinstance(size, float) and size.is_integer():  # 2e9
        size = int(size)
    if not 0 <= _whole("memory_limit", size) < 2**63:
        raise ValueError(f"memory_limit is {size}, expected bytes, 0 or more, or text as '2G'")
    return int(size)


class SessionOptions:
    """How to make a session ready.

    Used: intra_op_num_threads (0: as many as this process may use), graph_optimization_level (ORT_DISABLE_ALL runs
    the graph as it is written), log_severity_level (0 to 4; messages go to logging.getLogger("sardonyx")),
    free-dimension overrides, and our own: plugins (shared libraries that add providers), taps (values that become
    outputs), load_copy (read the file whole instead of mapping it), memory_limit (the most memory that the session may
    hold: bytes, or text as "500M", "2G" or "80%"; 0: what the machine has; also the configuration entry
    "session.memory_limit"), allow_newer (take models of an opset that is not known yet, or of none), strict_names
    (dimensions of one name must be of one size; by default such a name says nothing where sizes differ). The others are
    kept and mean nothing here.
    """

    _DEFAULTS = {
        "intra_op_num_threads": 0,
        "inter_op_num_threads": 0,
        "log_severity_level": 2,
        "log_verbosity_level": 0,
        "logid": "",
        "graph_optimization_level": GraphOptimizationLevel.ORT_ENABLE_ALL,
        "execution_mode": ExecutionMode.ORT_SEQUENTIAL,
        "execution_order": ExecutionOrder.DEFAULT,
        "enable_profiling": False,
        "profile_file_prefix": "",
        "optimized_model_filepath": "",
        "enable_cpu_mem_arena": True,
        "enable_mem_pattern": True,
        "enable_mem_reuse": True,
        "use_deterministic_compute": True,
        "use_per_session_threads": True,
        "load_copy": False,
        "memory_limit": 0,
        "allow_newer": False,
        "strict_names": False,
    }
    __slots__ = (*_DEFAULTS, "_config", "_dims", "plugins", "taps")

    def __init__(self) -> None:
        for name, value in self._DEFAULTS.items():
            setattr(self, name, value)
        self.plugins: list[str] = []
        self.taps: list[str] = []
        self._config: dict[str, str] = {}
        self._dims: dict[str, int] = {}

    def __repr__(self) -> str:
        changed = [f"{k}={getattr(self, k)!r}" for k, v in self._DEFAULTS.items() if getattr(self, k) != v]
        return f"SessionOptions({', '.join(changed)})"

    def add_session_config_entry(self, key: str, value: str) -> None:
        self._config[key] = value

    def get_session_config_entry(self, key: str) -> str:
        if key not in self._config:
            raise RuntimeError(f"there is no session configuration entry '{key}'")
        return self._config[key]

    def add_free_dimension_override_by_name(self, name: str, size: int) -> None:
        """Fixes a named dimension of the inputs ahead."""
        if not 0 <= _whole(f"the size of '{name}'", size) < 2**63:
            raise ValueError(f"the size of '{name}' is {size}, expected 0 to 2^63 - 1")
        self._dims[name] = int(size)

    def _settings(self, providers: list[str]) -> dict:
        threads = _whole("intra_op_num_threads", self.intra_op_num_threads)
        if threads < 0:
            raise ValueError(f"intra_op_num_threads is {threads}, expected 0 or more")
        if not 0 <= _whole("log_severity_level", self.log_severity_level) <= 4:
            raise ValueError(f"log_severity_level is {self.log_severity_level}, expected 0 to 4")
        settings = {
            "threads": min(threads, 2**31),
            "rules": self.graph_optimization_level != GraphOptimizationLevel.ORT_DISABLE_ALL,
            "providers": providers,
            "plugins": [str(path) for path in self.plugins],
            "taps": list(self.taps),
            "dims": list(self._dims.items()),
            "copy": bool(self.load_copy),
            "memory_limit": _bytes(self._config.get("session.memory_limit", self.memory_limit)),
            "allow_newer": bool(self.allow_newer),
            "strict_names": bool(self.strict_names),
        }
        if self.log_severity_level < 4:
            settings |= {"log": _log, "log_level": self.log_severity_level}
        return settings


class RunOptions(_sardonyx.RunControl):
    """One run, or several: `terminate = True` stops them from any thread; `timeout` is in seconds, 0 for none.
    `memory_limit`: what the session may hold while this run asks for more, as in SessionOptions; the smaller of both
    holds. Also the configuration entry "run.memory_limit"."""

    def __init__(self, timeout: float = 0, memory_limit: int | str = 0) -> None:
        super().__init__()
        self.timeout = timeout
        self.memory_limit = memory_limit
        self.log_severity_level = 2
        self.log_verbosity_level = 0
        self.logid = ""
        self.only_execute_path_to_fetches = False
        self._config: dict[str, str] = {}

    @property
    def memory_limit(self) -> int:
        return self._memory_limit

    @memory_limit.setter
    def memory_limit(self, size: int | str) -> None:
        self._memory_limit = _bytes(size)

    def add_run_config_entry(self, key: str, value: str) -> None:
        self._config[key] = value
        if key == "run.memory_limit":
            self.memory_limit = value

    def get_run_config_entry(self, key: str) -> str:
        return self._config[key]
