// SPDX-License-Identifier: Apache-2.0
// sx_rule_tests FILE...: runs tables of rules. `before` must become `after` by the rule named above it, and
// both must give the same numbers on random input; the rule must not fire on `keep`.
#include <cmath>
#include <cstdio>
#include <fstream>
#include <string>
#include <vector>

#include "base/format.h"
#include "formula_text.h"
#include "graph/evaluate.h"
#include "ops/engine/codec.h"
#include "passes/optimize.h"

using namespace sx;
using namespace sx::testing;

namespace {

struct Fired {
  Graph graph;
  bool rule = false;
};

Result<Fired> optimized(const Graph& graph, const std::string& rule) {
  SX_ASSIGN(Graph copy, graph.clone());
  passes::OptimizeOptions options;
  std::vector<passes::Applied> details;
  options.details = &details;
  options.verify = true;
  for (std::string_view name : passes::rule_names()) {
    if (name != rule) options.without.emplace_back(name);
  }
  SX_TRY(passes::optimize(copy, options));
  Fired fired{std::move(copy)};
  for (const auto& d : details) fired.rule = fired.rule || d.rule == rule;
  return fired;
}

// Sizes with a name get different small numbers.
Result<std::vector<Value>> random_inputs(const Graph& graph) {
  std::vector<int64_t> symbols(graph.pool().symbols());
  for (size_t i = 0; i < symbols.size(); ++i) symbols[i] = int64_t(2 + i % 4);
  std::vector<Value> inputs;
  for (ValueId v : graph.main().inputs) {
    Dims dims;
    for (Dim d : graph.value(v).type.shape.dims) {
      int64_t n = 0;
      if (!evaluate(d, symbols, n)) return error(Code::internal, "no number for {}", to_string(d));
      dims.push_back(n);
    }
    inputs.emplace_back(random_tensor(graph.value(v).type.elem, dims, 100 + inputs.size()));
  }
  return inputs;
}

Status same_numbers(const Graph& a, const Graph& b) {
  SX_ASSIGN(const std::vector<Value> inputs, random_inputs(a));
  SX_ASSIGN(const std::vector<Value> x, evaluate_graph(a, inputs, {}));
  SX_ASSIGN(const std::vector<Value> y, evaluate_graph(b, inputs, {}));
  const Reader<double> before(x[0].tensor), after(y[0].tensor);
  if (x[0].tensor.dims() != y[0].tensor.dims()) {
    return error(Code::internal, "shape {} became {}", to_string(x[0].tensor.dims()),
                 to_string(y[0].tensor.dims()));
  }
  double top = 0, worst = 0;
  for (size_t i = 0; i < before.size(); ++i) {
    top = std::max(top, std::fabs(before[i]));
    const double off = std::fabs(before[i] - after[i]);
    if (std::isnan(before[i]) != std::isnan(after[i]))
      worst = INFINITY;
    else if (!std::isnan(off))
      worst = std::max(worst, off);
  }
  if (worst > 1e-5 * top + 1e-9)
    return error(Code::internal, "numbers differ by {}, the largest is {}", worst, top);
  return {};
}

class Table {
 public:
  explicit Table(std::string file) : file_(std::move(file)) {}

  bool run() {
    std::ifstream in(file_);
    if (!in) return fail("cannot be opened"), false;
    for (std::string line; std::getline(in, line);) {
      ++line_;
      if (const size_t hash = line.find(" #"); hash != line.npos) line.resize(hash);
      const size_t start = line.find_first_not_of(' ');
      if (start == line.npos || line[start] == '#') continue;
      const size_t end = line.find_last_not_of(' ');
      if (Status s = take(line.substr(start, end - start + 1)); !s.ok()) fail(s.to_string());
    }
    std::printf("%s: %zu formulas, %zu wrong\n", file_.c_str(), formulas_, wrong_);
    return wrong_ == 0 && formulas_ > 0;
  }

 private:
  void fail(const std::string& why) {
    ++wrong_;
    std::printf("%s:%zu: %s\n", file_.c_str(), line_, why.c_str());
  }

  Status take(const std::string& line) {
    const size_t space = line.find(' ');
    const std::string word = line.substr(0, space);
    const size_t next = line.find_first_not_of(' ', space);
    const std::string rest = next == line.npos ? "" : line.substr(next);
    if (word == "rule") {
      rule_ = rest;
      declared_.clear();
      return {};
    }
    if (word == "before") return before(rest);
    if (word == "after") return after(rest);
    if (word == "keep") return keep(rest);
    SX_ASSIGN(Declaration d, parse_declaration(line));
    std::erase_if(declared_, [&](const Declaration& have) { return have.name == d.name; });
    declared_.push_back(std::move(d));
    return {};
  }

  Status before(const std::string& text) {
    ++formulas_;
    made_.clear();
    SX_ASSIGN(const Graph graph, parse_formula(declared_, text));
    SX_ASSIGN(const Fired fired, optimized(graph, rule_));
    made_ = formula_of(fired.graph);
    if (!fired.rule) return error(Code::internal, "{} did not fire", rule_);
    return same_numbers(graph, fired.graph);
  }

  Status after(const std::string& text) {
    if (made_.empty()) return {};
    SX_ASSIGN(const Graph graph, parse_formula(declared_, text));
    const std::string expected = formula_of(graph);
    if (made_ != expected)
      return error(Code::internal, "{} made\n    {}\n  expected\n    {}", rule_, made_, expected);
    return {};
  }

  Status keep(const std::string& text) {
    ++formulas_;
    SX_ASSIGN(const Graph graph, parse_formula(declared_, text));
    SX_ASSIGN(const Fired fired, optimized(graph, rule_));
    if (fired.rule) return error(Code::internal, "{} fired and made {}", rule_, formula_of(fired.graph));
    return {};
  }

  std::string file_, rule_, made_;
  std::vector<Declaration> declared_;
  size_t line_ = 0, formulas_ = 0, wrong_ = 0;
};

}  // namespace

int main(int argc, char** argv) {
  bool good = argc > 1;
  for (int i = 1; i < argc; ++i) good = Table(argv[i]).run() && good;
  return good ? 0 : 1;
}
