// SPDX-License-Identifier: Apache-2.0
// Every case of tests/ops/*.test as a session, every way, with its operands fed, constant (at odd addresses,
// as in a file) or mixed, and with sizes that the model states or leaves open.
#include <doctest/doctest.h>

#include <algorithm>
#include <cstring>
#include <filesystem>

#include "../../tools/compare.h"
#include "../ops/table.h"
#include "base/format.h"
#include "convert/convert.h"
#include "ways.h"

namespace fs = std::filesystem;
using namespace sx;
using testing::KnownFailures;
using testing::TableCase;
using testing::TableValue;
using testing::Way;

namespace {

enum class Operands { written, fed, weights, constant };

struct Variation {
  std::string name;
  Operands operands;
  bool symbolic;
};

const Variation kVariations[] = {
    {"as written", Operands::written, false},
    {"as written, symbolic", Operands::written, true},
    {"fed", Operands::fed, false},
    {"fed, symbolic", Operands::fed, true},
    {"weights", Operands::weights, false},
    {"weights, symbolic", Operands::weights, true},
    {"constant", Operands::constant, false},
};

// Which operands are initializers. Weights: all but the first one.
TableCase with_operands(TableCase c, Operands operands) {
  if (operands == Operands::written) return c;
  bool first = true;
  for (TableValue& v : c.inputs) {
    const bool all = operands == Operands::constant || (operands == Operands::weights && !first);
    v.constant = all && v.value.is_tensor();
    first = false;
  }
  return c;
}

// Each size of each input gets a name of its own.
void leave_sizes_open(onnx::Model& model) {
  for (onnx::ValueInfoProto& input : model.graph->input) {
    if (!input.type || !input.type->tensor_type || !input.type->tensor_type->shape) continue;
    int number = 0;
    for (onnx::DimensionProto& dim : input.type->tensor_type->shape->dim) {
      dim.dim_value.clear();
      dim.dim_param = format("{}_{}", input.name.view(), number++);
    }
  }
}

// As floating-point weights lie in a mapped file: where the bytes before them end.
Status move_to_odd_addresses(Graph& graph) {
  for (ValueId v = 0; v < graph.values(); ++v) {
    Value& constant = graph.value(v).constant;
    const Tensor& t = constant.tensor;
    if (constant.kind != Value::Kind::tensor || !dtype_is_float(t.type()) || t.rank() < 2) continue;
    SX_ASSIGN(auto bytes, Buffer::allocate(t.bytes() + 1));
    auto* odd = static_cast<uint8_t*>(bytes->mutable_data()) + 1;
    if (t.bytes() > 0) std::memcpy(odd, t.data(), t.bytes());
    auto buffer = Buffer::wrap(odd, t.bytes(), std::move(bytes));
    SX_ASSIGN(constant.tensor, Tensor::over(std::move(buffer), 0, t.type(), t.dims()));
  }
  return {};
}

double tolerance_of(const TableCase& c, const Value& expected) {
  if (c.within > 0) return c.within;
  switch (expected.is_tensor() ? expected.tensor.type() : DType::f32) {
    case DType::f64: return 1e-7;
    case DType::f16: return 0x1p-9;
    case DType::bf16: return 0x1p-6;
    default: return 4e-6;
  }
}

// Twice: the second run is a warm one.
Result<std::vector<Value>> run(const TableCase& c, const Variation& variation, const Way& way) {
  SX_ASSIGN(onnx::Model model, testing::model_of(c));
  if (variation.symbolic) leave_sizes_open(model);
  SX_ASSIGN(Graph graph, to_graph(model));
  if (variation.operands != Operands::written) SX_TRY(move_to_odd_addresses(graph));
  SX_ASSIGN(auto session, Session::from_graph(std::move(graph), way.options));
  std::vector<Value> inputs;
  for (const TableValue& v : c.inputs) {
    if (v.value.kind != Value::Kind::none && !v.constant) inputs.push_back(v.value);
  }
  std::vector<Value> first(session->outputs().size()), outputs(session->outputs().size());
  SX_TRY(session->run(inputs, std::span<Value>(first)));
  SX_TRY(session->run(inputs, std::span<Value>(outputs)));
  return outputs;
}

// Empty if the case holds; else what is wrong. A message is expected word for word only where the case is run
// as it was written.
std::string problem_of(const TableCase& c, const Variation& variation, const Way& way) {
  auto made = run(with_operands(c, variation.operands), variation, way);
  if (!c.error.empty()) {
    if (made.ok()) return "succeeds, but must fail: " + c.error;
    const std::string text = made.status().to_string();
    if (variation.operands != Operands::written || variation.symbolic || text.find(c.error) != text.npos)
      return "";
    return format("fails with '{}', expected '{}'", text, c.error);
  }
  if (!made.ok()) return made.status().to_string();
  size_t k = 0;
  for (const TableValue& v : c.outputs) {
    if (v.value.kind == Value::Kind::none) continue;
    const double t = tolerance_of(c, v.value);
    const tools::Difference d = tools::compare((*made)[k++], v.value, {t, t, 2e-6});
    if (!d.same) return v.name + " " + d.what;
  }
  return "";
}

struct Totals {
  size_t cases = 0, runs = 0;
};

void run_case(const TableCase& c, const std::vector<Way>& ways, KnownFailures& known, Totals& totals) {
  struct Run {
    const Way& way;
    const Variation& variation;
  };
  const size_t number = totals.cases++;
  std::vector<Run> runs;
  size_t run_number = 0;
  for (const Way& way : ways) {
    for (const Variation& variation : kVariations) {
      if (testing::in_share(number, run_number++)) runs.push_back({way, variation});
    }
  }
  auto run = [&](size_t k) {
    set_active_isa(runs[k].way.isa);
    return problem_of(c, runs[k].variation, runs[k].way);
  };
  auto name = [&](size_t k) {
    return format("{}:{}: {}, {}, {}", c.file, c.line, c.title, runs[k].way.name, runs[k].variation.name);
  };
  const std::vector<std::string> problems = testing::run_apart({runs.size(), run, name});
  REQUIRE(problems.size() == runs.size());
  totals.runs += runs.size();
  for (size_t k = 0; k < runs.size(); ++k) {
    if (problems[k].empty()) continue;
    INFO(name(k));
    const std::string way = runs[k].way.name + ", " + runs[k].variation.name;
    CHECK_MESSAGE(known.expected(c.file, c.title, way), problems[k]);
  }
}

}  // namespace

TEST_CASE("operators do what the tables say, every way") {
  const auto ways = testing::all_ways();
  REQUIRE_MESSAGE(ways.ok(), ways.status().to_string());
  auto known = KnownFailures::read("tests/ways/known_ops.txt");
  REQUIRE_MESSAGE(known.ok(), known.status().to_string());
  std::vector<fs::path> files;
  const char* only = std::getenv("SX_TABLE");
  for (const auto& entry : fs::directory_iterator("tests/ops")) {
    if (entry.path().extension() != ".test") continue;
    if (!only || entry.path().filename() == only) files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  REQUIRE(!files.empty());
  Totals totals;
  for (const fs::path& file : files) {
    const auto table = testing::read_table(file.string());
    REQUIRE_MESSAGE(table.ok(), table.status().to_string());
    for (const TableCase& c : *table) run_case(c, *ways, *known, totals);
  }
  if (!only && !std::getenv("SX_WAYS_SHARE")) {
    for (const std::string& line : known->needless()) FAIL_CHECK("passes now, off the list with it: ", line);
  }
  MESSAGE(totals.cases, " cases in ", files.size(), " tables: ", totals.runs, " runs");
}
