// SPDX-License-Identifier: Apache-2.0
// sardonyx test: runs every model that has test_data_set_* folders beside it and compares.
#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>

#include "base/format.h"
#include "compare.h"
#include "convert/convert.h"
#include "graph/evaluate.h"
#include "json.h"
#include "onnx/read.h"
#include "onnx/value_pb.h"
#include "session_flags.h"
#include "signals.h"

namespace sx::tools::commands {
namespace {

namespace fs = std::filesystem;

struct Case {
  std::string name, model;
  std::vector<std::string> data_sets;
};

struct Verdict {
  bool passed = true;
  bool unsupported = false;  // an operator or type that is not here
  double of_largest = 0;     // worst error of any output
  double versus_truth = -1;  // the same against the float64 evaluation, if asked for
  std::string why;
};

void find_cases(const fs::path& path, std::vector<Case>& cases) {
  std::error_code ec;
  if (fs::is_regular_file(path, ec)) return find_cases(path.parent_path(), cases);
  std::vector<fs::path> models, folders;
  Case here;
  for (const auto& entry : fs::directory_iterator(path, ec)) {
    const std::string file = entry.path().filename().string();
    if (entry.is_directory() && file.starts_with("test_data_set_"))
      here.data_sets.push_back(entry.path().string());
    else if (entry.is_directory())
      folders.push_back(entry.path());
    else if (file.ends_with(".onnx"))
      models.push_back(entry.path());
  }
  std::sort(here.data_sets.begin(), here.data_sets.end());
  if (!here.data_sets.empty() && models.size() == 1) {
    here.name = fs::absolute(path).lexically_normal().filename().string();
    if (here.name.empty()) here.name = path.parent_path().filename().string();
    here.model = models[0].string();
    cases.push_back(std::move(here));
  }
  std::sort(folders.begin(), folders.end());
  for (const fs::path& f : folders) find_cases(f, cases);
}

Result<std::vector<Value>> read_set(const std::string& folder, const char* prefix,
                                    const std::vector<ValueDesc>& descs) {
  std::vector<Value> values;
  for (size_t i = 0;; ++i) {
    const std::string path = format("{}/{}_{}.pb", folder, prefix, i);
    if (!fs::exists(path)) return values;
    const Type type = i < descs.size() ? descs[i].type : Type();
    SX_ASSIGN(onnx::NamedValue v, onnx::read_value_pb(path, type.known() ? type.kind : Value::Kind::tensor));
    values.push_back(std::move(v.value));
  }
}

class Test final : public Command {
 public:
  Test() {
    name = "test";
    group = Group::run;
    polls = true;
    summary = "run models beside their test data and compare";
    example = "sardonyx test models/ --provider reference";
  }
  void options(Options& o) override {
    o.argument("DIR", folders_, "folders to search for models with test_data_set_* beside them")
        .is(Takes::path);
    session_.add(o, false);
    o.value("--eval", "TYPE", eval_,
            "evaluate the operators' records in this type instead of running a session")
        .one_of({"f64", "f32"});
    o.flag("--truth", truth_, "also compare with the float64 evaluation and print that error");
    o.value("--rtol", "X", tolerance_.relative, "relative tolerance");
    o.value("--atol", "X", tolerance_.absolute, "absolute tolerance");
    o.value("--of-largest", "X", tolerance_.of_largest, "or this much of the largest expected element");
    o.value("--filter", "TEXT", filter_, "only cases whose name contains this");
    o.value("--skip", "FILE", skip_file_,
            "case names that may fail, one a line, each followed by # and the reason")
        .is(Takes::file);
  }

  Outcome run(const Common& common, Terminal& out) override {
    auto options = session_.options(common);
    if (!options.ok()) return {options.status(), kUsage};
    std::vector<Case> cases;
    for (const std::string& f : folders_) {
      if (!fs::exists(f)) return refuse(Status(Code::not_found, "no such file or folder").in(f));
      find_cases(f, cases);
    }
    std::erase_if(cases, [&](const Case& c) { return c.name.find(filter_) == std::string::npos; });
    if (cases.empty())
      return refuse(Status(Code::not_found, "no model with test_data_set_* folders beside it was found"));
    std::vector<Verdict> verdicts;
    for (size_t i = 0; i < cases.size() && !interrupted(); ++i) {
      out.progress(format("{} of {}: {}", i + 1, cases.size(), cases[i].name));
      verdicts.push_back(judge(cases[i], *options));
    }
    out.end_progress();
    return report(common, out, cases, verdicts);
  }

 private:
  Verdict judge(const Case& c, const SessionOptions& options) {
    Verdict v;
    Status s = check(c, options, v);
    if (!s.ok()) {
      v.passed = false;
      v.of_largest = INFINITY;
      v.unsupported = s.code() == Code::unsupported;
      v.why = s.to_string();
    }
    return v;
  }

  Status check(const Case& c, const SessionOptions& options, Verdict& v) {
    std::unique_ptr<Session> session;
    Graph graph;
    std::vector<ValueDesc> inputs, outputs;
    if (!eval_.empty() || truth_) {
      SX_ASSIGN(auto model, onnx::read_model(c.model));
      SX_ASSIGN(graph, to_graph(*model));
      for (ValueId id : graph.main().inputs) inputs.push_back({graph.value(id).name, graph.value(id).type});
      for (ValueId id : graph.main().outputs) outputs.push_back({graph.value(id).name, graph.value(id).type});
    }
    if (eval_.empty()) {
      SX_ASSIGN(session, Session::load(c.model, options));
      inputs = session->inputs();
      outputs = session->outputs();
    }
    for (const std::string& folder : c.data_sets) {
      SX_ASSIGN(std::vector<Value> in, read_set(folder, "input", inputs));
      SX_ASSIGN(const std::vector<Value> expected, read_set(folder, "output", outputs));
      std::vector<Value> got(outputs.size());
      if (session) {
        SX_TRY(session->run(in, got, {&interrupt()}));
      } else {
        EvaluateOptions how{.widen = eval_ == "f64", .cancel = &interrupt()};
        SX_ASSIGN(got, evaluate_graph(graph, in, how));
      }
      judge_outputs(outputs, got, expected, v);
      if (truth_) {
        EvaluateOptions how{.widen = true, .cancel = &interrupt()};
        SX_ASSIGN(const std::vector<Value> exact, evaluate_graph(graph, in, how));
        for (size_t i = 0; i < exact.size(); ++i) {
          v.versus_truth = std::max(v.versus_truth, compare(got[i], exact[i], tolerance_, true).of_largest);
        }
      }
    }
    return {};
  }

  void judge_outputs(const std::vector<ValueDesc>& outputs, const std::vector<Value>& got,
                     const std::vector<Value>& expected, Verdict& v) {
    for (size_t i = 0; i < expected.size() && i < got.size(); ++i) {
      const Difference d = compare(got[i], expected[i], tolerance_, eval_ == "f64");
      v.of_largest = std::max(v.of_largest, d.of_largest);
      if (d.same || !v.passed) continue;
      v.passed = false;
      v.why = format("output '{}' {}", outputs[i].name, d.what);
    }
    if (expected.size() > got.size()) {
      v.passed = false;
      v.why = format("{} outputs, expected {}", got.size(), expected.size());
    }
  }

  std::string skip_reason(const std::string& case_name) const {
    if (skip_file_.empty()) return "";
    std::ifstream file(skip_file_);
    for (std::string line; std::getline(file, line);) {
      const size_t hash = line.find('#');
      if (hash == std::string::npos) continue;
      const std::string key = line.substr(0, line.find_last_not_of(" \t", hash == 0 ? 0 : hash - 1) + 1);
      if (key == case_name) return line.substr(hash + 1);
    }
    return "";
  }

  Outcome report(const Common& common, Terminal& out, const std::vector<Case>& cases,
                 const std::vector<Verdict>& verdicts) {
    size_t passed = 0, failed = 0, skipped = 0, unsupported = 0;
    Json j;
    j.open_object().key("cases").open_array();
    Table table({"", "case", "error", "of truth", ""}, {false, false, true, true});
    for (size_t i = 0; i < verdicts.size(); ++i) {
      Verdict v = verdicts[i];
      const std::string reason = skip_reason(cases[i].name);
      const bool skip = !reason.empty() && !v.passed;
      if (!reason.empty() && v.passed) {
        v.passed = false;
        v.why = "is on the list of cases that may fail, but passes: take it off";
      }
      ++(skip ? skipped : v.passed ? passed : v.unsupported ? unsupported : failed);
      j.open_object()
          .text("case", cases[i].name)
          .boolean("passed", v.passed)
          .boolean("unsupported", v.unsupported)
          .number("error", v.of_largest)
          .text("why", v.why)
          .close_object();
      const bool worth = !v.passed || !common.quiet;
      if (!worth || (cases.size() > 60 && v.passed)) continue;
      std::string first = v.why.substr(0, v.why.find('\n'));
      table.row({skip            ? "skip"
                 : v.passed      ? "pass"
                 : v.unsupported ? "none"
                                 : "FAIL",
                 escaped(cases[i].name), std::isinf(v.of_largest) ? "" : format("{:.1e}", v.of_largest),
                 v.versus_truth >= 0 ? format("{:.1e}", v.versus_truth) : "",
                 shorten(escaped(skip ? reason : first), 100)},
                skip       ? Style::dim
                : v.passed ? Style::plain
                           : Style::bad);
    }
    j.close_array()
        .integer("passed", int64_t(passed))
        .integer("failed", int64_t(failed))
        .integer("skipped", int64_t(skipped))
        .integer("unsupported", int64_t(unsupported))
        .close_object();
    if (common.json) {
      out.line(j.str());
    } else {
      if (table.rows() > 0) table.print(out);
      if (unsupported > 0)
        out.line(format("{} models need operators or types that are not here", unsupported));
      out.line(
          format("{} passed, {} failed{}", passed, failed, skipped ? format(", {} skipped", skipped) : ""));
    }
    return done(failed + unsupported > 0 ? kAnswerIsNo : kDone);
  }

  SessionFlags session_;
  std::vector<std::string> folders_;
  std::string eval_, filter_, skip_file_;
  bool truth_ = false;
  Tolerance tolerance_;
};

}  // namespace

std::unique_ptr<Command> test() { return std::make_unique<Test>(); }

}  // namespace sx::tools::commands
