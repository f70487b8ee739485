// SPDX-License-Identifier: Apache-2.0
// sardonyx profile: where the time of a run goes, step by step.
#include <algorithm>
#include <chrono>
#include <cmath>

#include "base/format.h"
#include "graph/op.h"
#include "json.h"
#include "session_flags.h"
#include "signals.h"

namespace sx::tools::commands {
namespace {

struct Line {
  std::string step, kernel, provider;
  double seconds = 0, runs = 0;
  int depth = 0;
};

void collect(const Program& program, int depth, double runs, std::vector<Line>& lines) {
  for (size_t i = 0; i < program.steps().size(); ++i) {
    const Step& s = program.steps()[i];
    const StepTime& t = program.times()[i];
    if (t.runs == 0) continue;
    std::string kernel = s.kernel                         ? std::string(s.kernel->name())
                         : s.kind == Step::Kind::view     ? "view"
                         : s.kind == Step::Kind::transfer ? "transfer"
                                                          : "control";
    lines.push_back({s.label, std::move(kernel), s.provider ? std::string(s.provider->name()) : "",
                     double(t.ns) * 1e-9 / runs, double(t.runs) / runs, depth});
    for (const auto& child : s.children) collect(*child, depth + 1, runs, lines);
  }
}

class Profile final : public Command {
 public:
  Profile() {
    name = "profile";
    group = Group::run;
    polls = true;
    summary = "where the time of a run goes, step by step";
    example = "sardonyx profile model.onnx --random --top 20";
  }
  void options(Options& o) override {
    session_.add(o);
    inputs_.add(o);
    o.value("--runs", "N", runs_, "how many runs to average").at_least_one();
    o.value("--top", "N", top_, "only the steps that take longest");
  }
  Outcome run(const Common& common, Terminal& out) override {
    auto options = session_.options(common);
    if (!options.ok()) return {options.status(), kUsage};
    options->profile = true;
    auto session = session_.load(*options, out);
    if (!session.ok()) return refuse(std::move(session).status());
    inputs_.source.random = true;
    inputs_.source.dims = options->dims;
    auto feeds = gather_inputs((*session)->inputs(), inputs_.source);
    if (!feeds.ok()) return refuse(std::move(feeds).status());
    std::vector<double> totals;
    for (int i = 0; i <= runs_; ++i) {
      out.progress(format("run {} of {}", i, runs_));
      if (i == 1) (*session)->clear_profile();  // the first run warms up
      const auto start = std::chrono::steady_clock::now();
      auto values = (*session)->run(*feeds, {}, {&interrupt()});
      if (!values.ok()) return fail(std::move(values).status());
      if (i > 0)
        totals.push_back(std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
    }
    out.end_progress();
    std::sort(totals.begin(), totals.end());
    std::vector<Line> lines;
    collect((*session)->program(), 0, double(runs_), lines);
    show(common, out, lines, totals[totals.size() / 2]);
    return done();
  }

 private:
  void show(const Common& common, Terminal& out, std::vector<Line>& lines, double median) {
    double sum = 0;
    for (const Line& l : lines) sum += l.depth == 0 ? l.seconds : 0;
    if (common.json) {
      Json j;
      j.open_object().number("run_seconds", median).number("step_seconds", sum).key("steps").open_array();
      for (const Line& l : lines) {
        j.open_object()
            .text("step", l.step)
            .text("kernel", l.kernel)
            .text("provider", l.provider)
            .number("seconds", l.seconds);
        j.number("runs", l.runs).integer("depth", l.depth).close_object();
      }
      j.close_array().close_object();
      out.line(j.str());
      return;
    }
    if (top_ > 0) {
      std::stable_sort(lines.begin(), lines.end(),
                       [](const Line& a, const Line& b) { return a.seconds > b.seconds; });
      if (lines.size() > size_t(top_)) lines.resize(size_t(top_));
    }
    Table table({"step", "kernel", "provider", "time", "share", ""}, {false, false, false, true, true});
    for (const Line& l : lines) {
      const double share = sum > 0 ? l.seconds / sum : 0;
      std::string bar;
      for (int i = 0; i < int(std::lround(share * 30)); ++i) bar += "█";
      table.row({std::string(size_t(l.depth) * 2, ' ') + shorten(escaped(l.step), 44), shorten(l.kernel, 44),
                 l.provider, time_text(l.seconds), format("{:.1f}%", share * 100),
                 out.paint(Style::accent, bar)});
    }
    table.print(out);
    out.line(format("{} a run (median of {}), {} of it in steps", time_text(median), runs_, time_text(sum)));
  }

  SessionFlags session_;
  InputFlags inputs_;
  int runs_ = 10, top_ = 0;
};

}  // namespace

std::unique_ptr<Command> profile() { return std::make_unique<Profile>(); }

}  // namespace sx::tools::commands
