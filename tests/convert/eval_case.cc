// SPDX-License-Identifier: Apache-2.0
// sx_eval_case [--f64] [--optimize] [--print] [--quiet] [--save FILE] DIR...: reads DIR/model.onnx, converts it,
// evaluates it on test_data_set_*/input_N.pb and compares with output_N.pb. A DIR without a model is searched for
// folders with one. --optimize runs the passes first and prints what they did, --save writes the graph as a model.
#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "base/format.h"
#include "compare.h"
#include "convert/convert.h"
#include "graph/evaluate.h"
#include "onnx/read.h"
#include "onnx/value_pb.h"
#include "onnx/write.h"
#include "passes/optimize.h"

namespace fs = std::filesystem;
using namespace sx;

namespace {

struct Args {
  bool f64 = false, print = false, quiet = false, optimize = false;
  std::string save;
  std::vector<fs::path> dirs;
};

Result<std::vector<Value>> read_values(const fs::path& set, std::string_view stem,
                                       const std::vector<onnx::ValueInfoProto>& infos) {
  std::vector<Value> values;
  for (size_t i = 0; i < infos.size(); ++i) {
    const fs::path file = set / format("{}_{}.pb", stem, i);
    if (!fs::exists(file)) break;
    const auto kind = infos[i].type ? onnx::value_kind(*infos[i].type) : Value::Kind::tensor;
    SX_ASSIGN(onnx::NamedValue v, onnx::read_value_pb(file.string(), kind).in(file.string()));
    values.push_back(std::move(v.value));
  }
  return values;
}

Status run_set(const onnx::Model& model, const Graph& graph, const fs::path& set, const Args& args) {
  SX_ASSIGN(std::vector<Value> inputs, read_values(set, "input", model.graph->input));
  inputs.resize(std::max(inputs.size(), graph.main().inputs.size()));
  inputs.resize(graph.main().inputs.size());
  SX_ASSIGN(const std::vector<Value> expected, read_values(set, "output", model.graph->output));
  EvaluateOptions options;
  options.widen = args.f64;
  SX_ASSIGN(const std::vector<Value> made, evaluate_graph(graph, inputs, options));
  for (size_t i = 0; i < expected.size(); ++i) {
    const std::string d = testing::difference(made[i], expected[i], {}, args.f64);
    if (!d.empty()) {
      return error(Code::internal, "output '{}' {}", graph.value(graph.main().outputs[i]).name, d)
          .in(set.filename().string());
    }
  }
  return {};
}

std::map<std::string, size_t> count_nodes(const Graph& graph) {
  std::map<std::string, size_t> counts;
  for (NodeId n = 0; n < graph.nodes(); ++n) {
    if (!graph.node(n).removed) ++counts[graph.node(n).type];
  }
  return counts;
}

Status optimize(Graph& graph) {
  std::vector<passes::Applied> details;
  passes::OptimizeOptions options;
  options.details = &details;
  size_t before = 0, after = 0;
  for (const auto& [type, n] : count_nodes(graph)) before += n;
  SX_TRY(passes::optimize(graph, options));
  std::map<std::string, size_t> rules;
  for (const auto& d : details) ++rules[d.rule];
  std::string text, left;
  for (const auto& [rule, n] : rules) text += format(" {}:{}", rule, n);
  for (const auto& [type, n] : count_nodes(graph)) after += n, left += format(" {}:{}", type, n);
  std::printf("%zu nodes became %zu\n  rules%s\n  left%s\n", before, after, text.c_str(), left.c_str());
  return {};
}

Status run_case(const fs::path& dir, const Args& args) {
  SX_ASSIGN(auto model, onnx::read_model((dir / "model.onnx").string()));
  SX_ASSIGN(Graph graph, to_graph(*model));
  if (args.optimize) SX_TRY(optimize(graph));
  if (args.print) std::printf("%s\n", print(graph).c_str());
  if (!args.save.empty()) {
    SX_ASSIGN(const onnx::Model saved, to_model(graph));
    SX_TRY(onnx::write_model(saved, args.save));
  }
  for (const auto& entry : fs::directory_iterator(dir)) {
    if (entry.path().filename().string().starts_with("test_data_set_"))
      SX_TRY(run_set(*model, graph, entry.path(), args));
  }
  return {};
}

std::vector<fs::path> cases_in(const fs::path& dir) {
  if (fs::exists(dir / "model.onnx")) return {dir};
  std::vector<fs::path> found;
  for (const auto& entry : fs::recursive_directory_iterator(dir)) {
    if (entry.path().filename() == "model.onnx") found.push_back(entry.path().parent_path());
  }
  std::sort(found.begin(), found.end());
  return found;
}

}  // namespace

int main(int argc, char** argv) {
  Args args;
  for (int i = 1; i < argc; ++i) {
    const std::string a = argv[i];
    if (a == "--f64")
      args.f64 = true;
    else if (a == "--optimize")
      args.optimize = true;
    else if (a == "--save" && i + 1 < argc)
      args.save = argv[++i];
    else if (a == "--print")
      args.print = true;
    else if (a == "--quiet")
      args.quiet = true;
    else
      args.dirs.emplace_back(a);
  }
  size_t passed = 0, failed = 0, unsupported = 0;
  for (const fs::path& root : args.dirs) {
    for (const fs::path& dir : cases_in(root)) {
      const Status status = run_case(dir, args);
      const std::string name = dir.filename().string();
      if (status.ok()) {
        ++passed;
        if (!args.quiet) std::printf("pass %s\n", name.c_str());
      } else {
        const bool unknown = status.code() == Code::unsupported;
        ++(unknown ? unsupported : failed);
        std::printf("%s %s: %s\n", unknown ? "unsupported" : "FAIL", name.c_str(),
                    status.to_string().c_str());
      }
      std::fflush(stdout);
    }
  }
  std::printf("%zu passed, %zu failed, %zu unsupported\n", passed, failed, unsupported);
  return failed == 0 ? 0 : 1;
}
