# SPDX-License-Identifier: Apache-2.0
"""Each guard of scripts/guards on a tree that is in order and on trees that are not."""

import subprocess
import sys
from pathlib import Path

import pytest

GUARDS = Path(__file__).resolve().parents[2] / "scripts" / "guards"
sys.path.insert(0, str(GUARDS))

import compile_time  # noqa: E402
import file_length  # noqa: E402
import include_direction  # noqa: E402
import isa_symbols  # noqa: E402
import private_operators  # noqa: E402
import provider_names  # noqa: E402
import public_headers  # noqa: E402


@pytest.fixture
def tree(tmp_path):
    def write(**files: str) -> Path:
        for path, text in files.items():
            target = tmp_path / path.replace("__", "/").replace("_DOT_", ".")
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_text(text)
        return tmp_path

    return write


@pytest.mark.parametrize(
    ("path", "line"),
    [
        ("src/tensor/tensor.h", '#include "base/result.h"'),
        ("src/convert/lift.cc", '#include "onnx/model.h"'),
        ("src/capi/capi.cc", "#include <sardonyx/sardonyx.h>"),
        ("providers/cpu/conv.cc", '#include "runtime/provider.h"'),
        ("providers/cpu/conv.cc", '#include "kernels/conv.h"'),
        ("providers/toy/toy.c", '#include "sardonyx/plugin.h"'),
        ("src/runtime/abi.h", '#include "sardonyx/plugin.h"'),
        ("tools/run.cc", '#include "runtime/session.h"'),
        ("src/base/result.h", "#include <vector>"),
        ("src/ops/registry.cc", '#include "operator_list.inc"'),
    ],
)
def test_include_direction_allows(tree, path, line):
    assert include_direction.problems(tree(**{path.replace(".", "_DOT_"): line})) == []


@pytest.mark.parametrize(
    ("path", "line"),
    [
        ("src/base/result.h", '#include "tensor/tensor.h"'),
        ("src/onnx/reader.cc", '#include "graph/graph.h"'),
        ("src/graph/graph.h", '#include "onnx/model.h"'),
        ("src/kernels/gemm.cc", '#include "tensor/tensor.h"'),
        ("src/passes/driver.cc", '#include "runtime/session.h"'),
        ("src/runtime/plan.cc", '#include "kernels/gemm.h"'),
        ("src/runtime/plan.cc", '#include "../passes/driver.h"'),
        ("src/runtime/plan.cc", '#include "nowhere.h"'),
        ("src/runtime/plan.cc", '#include "sardonyx/sardonyx.h"'),
        ("providers/cpu/conv.cc", '#include "runtime/session.h"'),
        ("providers/toy/toy.c", '#include "base/result.h"'),
        ("include/sardonyx/sardonyx.h", '#include "runtime/session.h"'),
    ],
)
def test_include_direction_refuses(tree, path, line):
    found = include_direction.problems(tree(**{path.replace(".", "_DOT_"): f"// c\n  # include{line[8:]}\n"}))
    assert len(found) == 1 and path in found[0]


def test_provider_names_allows_comments_features_and_providers(tree):
    root = tree(
        src__base__cpu_DOT_h='// the "cpu" provider\n/* CpuProvider */ int cpu_level(); const char* s = "cpuid";\n',
        providers__cpu__cpu_DOT_cc='const char* name = "cpu"; struct CpuProvider {};\n',
    )
    assert provider_names.problems(root) == []


@pytest.mark.parametrize(
    "line", ['if (name == "cpu")', "CpuProvider p;", "make_reference_provider()", '"cuda"']
)
def test_provider_names_refuses(tree, line):
    found = provider_names.problems(tree(src__runtime__x_DOT_cc=f"\n{line}\n"))
    assert len(found) == 1 and "src/runtime/x.cc:2" in found[0]


def compile_object(root: Path, text: str, level: str) -> None:
    folder = root / "build" / f"sx_kernels_x_simd_cc_{level}.dir"
    folder.mkdir(parents=True)
    subprocess.run(
        ["g++", "-std=c++20", "-O0", "-x", "c++", "-", "-c", "-o", str(folder / "x.simd.cc.o")],
        input=text,
        text=True,
        check=True,
    )


def test_isa_symbols_allows_its_own_namespace(tmp_path):
    text = """
    namespace { int hidden(int x) { return x; } }
    static int local(int x) { return x; }
    namespace sx::avx2 {
      template <class T> T twice(T x) { return x + x; }
      struct Table { virtual ~Table() {} int get() const { static int n = local(2); return n; } };
      int f(int x) { return Table().get() + twice(x) + hidden(x); }
    }
    """
    compile_object(tmp_path, text, "avx2")
    assert isa_symbols.problems(tmp_path, "build") == []


@pytest.mark.parametrize(
    "text",
    [
        "namespace sx { inline int f(int x) { return x; } namespace avx2 { int g() { return f(1); } } }",
        "#include <algorithm>\nnamespace sx::avx2 { int g(int a, int b) { return std::max(a, b); } }",
        "namespace sx::baseline { int g() { return 1; } }",
        'extern "C" int sx_g() { return 1; }',
    ],
)
def test_isa_symbols_refuses(tmp_path, text):
    compile_object(tmp_path, text, "avx2")
    assert len(isa_symbols.problems(tmp_path, "build")) == 1


def test_compile_time(tree, capsys):
    root = tree(build__compile_times_DOT_txt="40 1 ../src/old.cc\n1 0.5 ../src/old.cc\n11 2 ../src/slow.cc\n")
    assert compile_time.problems(root, "build") == []
    assert "13.0 s  ../src/slow.cc" in capsys.readouterr().out
    root = tree(build__compile_times_DOT_txt="29 2 ../src/huge.cc\n")
    assert "huge.cc took 31.0 s" in compile_time.problems(root, "build")[0]
    assert compile_time.problems(root, "nothing") == []


def test_private_operators(tree):
    record = 'const Op op = {.name = "X", .domain = "sx"};\n'
    legacy = 'const Op op = {.name = "X", .domain = "sx.legacy"};\n'
    root = tree(src__ops__a_DOT_cc=record * 15 + legacy * 5 + '// .domain = "sx"\n')
    assert private_operators.problems(root) == []
    root = tree(src__ops__b_DOT_cc=record)
    assert len(private_operators.problems(root)) == 1


def test_file_length(tree, capsys):
    root = tree(src__a_DOT_cc="\n" * 400, src__b_DOT_cc="\n" * 800)
    assert file_length.problems(root) == []
    out = capsys.readouterr().out
    assert "src/b.cc has 800" in out and "src/a.cc" not in out
    assert len(file_length.problems(tree(src__c_DOT_cc="\n" * 801))) == 1


def test_public_headers(tree):
    good = "#pragma once\n#include <stddef.h>\ntypedef struct sx_thing { size_t size; } sx_thing;\n"
    root = tree(include__sardonyx__good_DOT_h=good)
    assert public_headers.problems(root) == []
    root = tree(include__sardonyx__bad_DOT_h="typedef struct sx_thing { size_t size; } sx_thing;\n")
    found = public_headers.problems(root)
    assert len(found) == 2 and "bad.h" in found[0]
