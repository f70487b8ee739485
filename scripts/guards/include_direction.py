# SPDX-License-Identifier: Apache-2.0
"""No room includes a room above it: the table of docs/architecture.md, checked on the #include lines."""

import re
from pathlib import Path

from common import run, source_files

# Folder → the folders it may include, beside itself. Each list is complete: nothing is inherited.
TENSOR = {"base", "tensor"}
GRAPH = TENSOR | {"graph"}
OPS = GRAPH | {"ops"}
RUNTIME = OPS | {"onnx", "convert", "passes", "runtime"}
MAY_INCLUDE = {
    "src/base": {"base"},
    "src/tensor": TENSOR,
    "src/onnx": TENSOR | {"onnx"},
    "src/graph": GRAPH,
    "src/ops": OPS,
    "src/kernels": {"base", "kernels"},
    "src/convert": OPS | {"onnx", "convert"},
    "src/passes": OPS | {"passes"},
    "src/runtime": RUNTIME,
    "src/capi": RUNTIME | {"capi", "sardonyx"},
    "include": {"sardonyx"},
    "providers": OPS | {"providers", "kernels"},
}
# A provider sees only these of the runtime: the interface, the kernel it makes, and the store of packed weights.
PROVIDER_HEADERS = {"runtime/provider.h", "runtime/kernel.h", "runtime/weights.h"}
# The runtime speaks the plugins' tables; the rest of the public headers lies above it.
RUNTIME_HEADERS = {"sardonyx/plugin.h"}
# Plugins live on the public headers alone.
PLUGINS = {f"providers/{name}": {"sardonyx"} for name in ("toy", "loopback", "dnnl", "cuda")}

INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*"([^"]+)"', re.MULTILINE)
PUBLIC = re.compile(r"^[ \t]*#[ \t]*include[ \t]*<(sardonyx/[^>]+)>", re.MULTILINE)


def folder_of(relative: Path) -> str | None:
    for name in sorted(MAY_INCLUDE | PLUGINS, key=len, reverse=True):
        if relative.is_relative_to(name):
            return name
    return None


def problem(root: Path, path: Path, included: str) -> str | None:
    """Why `path` may not include `included`, or None."""
    relative = path.relative_to(root)
    folder = folder_of(relative)
    if ".." in Path(included).parts:
        return f'{relative} includes "{included}": write the path from src/, include/ or the root'
    if folder is None:
        return None
    if "/" not in included:
        beside = (
            (path.parent / included).exists()
            or (root / "providers" / included).exists()
            and folder == "providers"
        )
        generated = included.endswith("_list.inc")  # the build line is the registry: CMake writes these
        return None if beside or generated else f'{relative} includes "{included}": no such file beside it'
    if folder == "providers" and included in PROVIDER_HEADERS:
        return None
    if folder == "src/runtime" and included in RUNTIME_HEADERS:
        return None
    allowed = PLUGINS.get(folder) or MAY_INCLUDE[folder]
    room = included.split("/")[0]
    if room in allowed:
        return None
    return f'{relative} includes "{included}": {folder} may include only {", ".join(sorted(allowed))}'


def problems(root: Path) -> list[str]:
    found = []
    for path in source_files(root, ("src", "include", "providers")):
        text = path.read_text()
        for included in INCLUDE.findall(text) + PUBLIC.findall(text):
            if why := problem(root, path, included):
                found.append(why)
    return found


if __name__ == "__main__":
    run("include_direction", problems)
