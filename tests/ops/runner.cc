// SPDX-License-Identifier: Apache-2.0
// Runs every case of tests/ops/*.test by the operators' own evaluation, as written and in float64.
#include <doctest/doctest.h>

#include <algorithm>
#include <filesystem>

#include "../../tools/compare.h"
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

Result<std::vector<Value>> evaluate(const TableCase& c, bool widen) {
  SX_ASSIGN(const onnx::Model model, testing::model_of(c));
  SX_ASSIGN(const Graph graph, to_graph(model));
  std::vector<Value> inputs;
  for (const testing::TableValue& v : c.inputs) {
    if (v.value.kind != Value::Kind::none && !v.constant) inputs.push_back(v.value);
  }
  EvaluateOptions options;
  options.widen = widen;
  return evaluate_graph(graph, inputs, options);
}

// Empty if the case holds; else what is wrong.
std::string problem_of(const TableCase& c, bool widen) {
  auto made = evaluate(c, widen);
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
    const tools::Difference d = tools::compare((*made)[k++], v.value, {t, t, 0}, widen);
    if (!d.same) return v.name + " " + d.what;
  }
  return "";
}

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
      const std::string plain = problem_of(c, false);
      CHECK_MESSAGE(plain.empty(), where, "\n  ", plain);
      if (c.narrow || c.op.starts_with("Cast")) continue;
      const std::string wide = problem_of(c, true);
      CHECK_MESSAGE(wide.empty(), where, " in float64\n  ", wide);
    }
  }
  MESSAGE(cases, " cases in ", files.size(), " tables");
}
