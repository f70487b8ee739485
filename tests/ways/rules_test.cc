// SPDX-License-Identifier: Apache-2.0
// Every formula of tests/rules/*.test as a session, every way: the numbers are those of the formula evaluated
// as it is written, in float64.
#include <doctest/doctest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "../../tools/compare.h"
#include "../rules/formula_text.h"
#include "base/format.h"
#include "graph/evaluate.h"
#include "ways.h"

namespace fs = std::filesystem;
using namespace sx;
using testing::Declaration;
using testing::KnownFailures;
using testing::Way;

namespace {

struct Formula {
  std::string file, text;
  size_t line = 0;
  std::vector<Declaration> declared;
};

Result<std::vector<Formula>> read_formulas(const std::string& file) {
  std::ifstream in(file);
  if (!in) return error(Code::io, "cannot read {}", file);
  std::vector<Formula> formulas;
  std::vector<Declaration> declared;
  size_t number = 0;
  for (std::string line; std::getline(in, line);) {
    ++number;
    if (const size_t hash = line.find(" #"); hash != line.npos) line.resize(hash);
    const size_t start = line.find_first_not_of(' ');
    if (start == line.npos || line[start] == '#') continue;
    line = line.substr(start, line.find_last_not_of(' ') + 1 - start);
    const std::string word = line.substr(0, line.find(' '));
    if (word == "rule") {
      declared.clear();
    } else if (word == "before" || word == "after" || word == "keep") {
      formulas.push_back({file, line.substr(line.find_first_not_of(' ', word.size())), number, declared});
    } else {
      SX_ASSIGN(Declaration d, testing::parse_declaration(line));
      std::erase_if(declared, [&](const Declaration& have) { return have.name == d.name; });
      declared.push_back(std::move(d));
    }
  }
  return formulas;
}

// Sizes with a name get different small numbers; `round` takes others.
Result<std::vector<Value>> random_inputs(const Graph& graph, size_t round) {
  std::vector<int64_t> symbols(graph.pool().symbols());
  for (size_t i = 0; i < symbols.size(); ++i) symbols[i] = int64_t(1 + (i + round) % 5);
  std::vector<Value> inputs;
  for (ValueId v : graph.main().inputs) {
    Dims dims;
    for (Dim d : graph.value(v).type.shape.dims) {
      int64_t n = 0;
      if (!evaluate(d, symbols, n)) return error(Code::internal, "no number for {}", to_string(d));
      dims.push_back(n);
    }
    inputs.emplace_back(testing::random_tensor(graph.value(v).type.elem, dims, 100 * round + inputs.size()));
  }
  return inputs;
}

// Empty if all is well. A formula that cannot run at all must be refused every way.
std::string problem_of(const Graph& graph, const Way& way) {
  auto copy = graph.clone();
  if (!copy.ok()) return copy.status().to_string();
  auto session = Session::from_graph(std::move(copy).value(), way.options);
  if (!session.ok()) return session.status().to_string();
  for (size_t round = 1; round <= 2; ++round) {
    const auto inputs = random_inputs(graph, round);
    if (!inputs.ok()) return inputs.status().to_string();
    EvaluateOptions wide;
    wide.widen = true;
    const auto truth = evaluate_graph(graph, *inputs, wide);
    std::vector<Value> outputs((*session)->outputs().size());
    const Status done = (*session)->run(std::span<const Value>(*inputs), std::span<Value>(outputs));
    if (truth.ok() != done.ok())
      return done.ok() ? "runs, but must fail: " + truth.status().to_string() : done.to_string();
    if (!truth.ok()) continue;
    for (size_t k = 0; k < outputs.size(); ++k) {
      const tools::Difference d = tools::compare(outputs[k], (*truth)[k], {1e-5, 1e-6, 1e-5}, true);
      if (!d.same) return format("output {} {}", k, d.what);
    }
  }
  return "";
}

}  // namespace

TEST_CASE("formulas of the rule tables give the same numbers, every way") {
  const auto ways = testing::all_ways();
  REQUIRE_MESSAGE(ways.ok(), ways.status().to_string());
  auto known = KnownFailures::read("tests/ways/known_rules.txt");
  REQUIRE_MESSAGE(known.ok(), known.status().to_string());
  std::vector<fs::path> files;
  for (const auto& entry : fs::directory_iterator("tests/rules")) {
    if (entry.path().extension() == ".test") files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  REQUIRE(!files.empty());
  size_t count = 0, run_count = 0;
  for (const fs::path& file : files) {
    const auto formulas = read_formulas(file.string());
    REQUIRE_MESSAGE(formulas.ok(), formulas.status().to_string());
    for (const Formula& f : *formulas) {
      const auto graph = testing::parse_formula(f.declared, f.text);
      REQUIRE_MESSAGE(graph.ok(), f.file, ":", f.line, ": ", graph.status().to_string());
      std::vector<const Way*> runs;
      for (const Way& way : *ways) {
        if (testing::in_share(count, size_t(&way - ways->data()))) runs.push_back(&way);
      }
      ++count;
      run_count += runs.size();
      auto run = [&](size_t k) {
        set_active_isa(runs[k]->isa);
        return problem_of(*graph, *runs[k]);
      };
      auto name = [&](size_t k) { return format("{}:{}: {}, {}", f.file, f.line, f.text, runs[k]->name); };
      const std::vector<std::string> problems = testing::run_apart({runs.size(), run, name});
      REQUIRE(problems.size() == runs.size());
      for (size_t k = 0; k < runs.size(); ++k) {
        if (problems[k].empty()) continue;
        INFO(name(k));
        CHECK_MESSAGE(known->expected(f.file, f.text, runs[k]->name), problems[k]);
      }
    }
  }
  if (!std::getenv("SX_WAYS_SHARE")) {
    for (const std::string& line : known->needless()) FAIL_CHECK("passes now, off the list with it: ", line);
  }
  MESSAGE(count, " formulas in ", files.size(), " tables: ", run_count, " runs");
}
