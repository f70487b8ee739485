// SPDX-License-Identifier: Apache-2.0
// Runs every case of tests/ops/*.test by the operators' own evaluation, as written and in float64.
#include <doctest/doctest.h>

#include <algorithm>
#include <filesystem>

#include "../../tools/compare.h"
#include "../odd_address.h"
#include "base/format.h"
#include "convert/convert.h"
#include "graph/evaluate.h"
#include "table.h"

namespace fs = std::filesystem;
using namespace sx;
using testing::TableCase;

namespace {

double tolerance_of(const TableCase& c, const Value& expected) {
  if (c.within > 0) return c.within;
  switch (expected.tensor.type()) {
    case DType::f64: return 1e-7;
    case DType::f16: return 0x1p-9;
    case DType::bf16: return 0x1p-6;
    default: return 2e-6;
  }
}

// How a case is evaluated.
struct Manner {
  const char* name;
  bool widen = false;        // in float64
  bool odd_address = false;  // inputs where no number would lie by itself
};

bool is_numeric_tensor(const Value& v) { return v.is_tensor() && v.tensor.type() != DType::string; }

Result<std::vector<Value>> evaluate(const TableCase& c, const Manner& manner) {
  SX_ASSIGN(const onnx::Model model, testing::model_of(c));
  SX_ASSIGN(const Graph graph, to_graph(model));
  std::vector<Value> inputs;
  for (const testing::TableValue& v : c.inputs) {
    if (v.value.kind == Value::Kind::none || v.constant) continue;
    const bool move = manner.odd_address && is_numeric_tensor(v.value);
    inputs.push_back(move ? Value(testing::at_odd_address(v.value.tensor)) : v.value);
  }
  EvaluateOptions options;
  options.widen = manner.widen;
  return evaluate_graph(graph, inputs, options);
}

// Empty if the case holds; else what is wrong.
std::string problem_of(const TableCase& c, const Manner& manner) {
  auto made = evaluate(c, manner);
  if (!c.error.empty()) {
    if (made.ok()) return "succeeds, but must fail: " + c.error;
    const std::string text = made.status().to_string();
    return text.find(c.error) != text.npos ? "" : format("fails with '{}', expected '{}'", text, c.error);
  }
  if (!made.ok()) return made.status().to_string();
  size_t k = 0;
  for (const testing::TableValue& v : c.outputs) {
    if (v.value.kind == Value::Kind::none) continue;
    const double t = tolerance_of(c, v.value);
    const tools::Difference d = tools::compare((*made)[k++], v.value, {t, t, 0}, manner.widen);
    if (!d.same) return v.name + " " + d.what;
  }
  return "";
}

constexpr Manner kManners[] = {{""}, {" at an odd address", false, true}, {" in float64", true}};

}  // namespace

TEST_CASE("operators do what the tables say") {
  std::vector<fs::path> files;
  for (const auto& entry : fs::directory_iterator("tests/ops")) {
    if (entry.path().extension() == ".test") files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  CHECK(!files.empty());
  size_t cases = 0;
  for (const fs::path& file : files) {
    const auto table = testing::read_table(file.string());
    REQUIRE_MESSAGE(table.ok(), table.status().to_string());
    for (const TableCase& c : *table) {
      ++cases;
      const std::string where = format("{}:{}: {}", c.file, c.line, c.title);
      for (const Manner& manner : kManners) {
        if (manner.widen && (c.narrow || c.op.starts_with("Cast"))) continue;
        const std::string problem = problem_of(c, manner);
        CHECK_MESSAGE(problem.empty(), where, manner.name, "\n  ", problem);
      }
    }
  }
  MESSAGE(cases, " cases in ", files.size(), " tables");
}
