// SPDX-License-Identifier: Apache-2.0
// sardonyx bench: how long a model takes to load and to run, and how much memory it needs.
#include <algorithm>
#include <chrono>
#include <cstdio>

#include "base/format.h"
#include "json.h"
#include "session_flags.h"
#include "signals.h"

namespace sx::tools::commands {
namespace {

double now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

// Resident memory that is not a page of some file.
double anonymous_bytes() {
  double kilobytes = 0;
  if (FILE* f = std::fopen("/proc/self/status", "r")) {
    char line[256];
    while (std::fgets(line, sizeof line, f)) std::sscanf(line, "RssAnon: %lf", &kilobytes);
    std::fclose(f);
  }
  return kilobytes * 1024;
}

class Bench final : public Command {
 public:
  Bench() {
    name = "bench";
    group = Group::run;
    polls = true;
    summary = "time loading and running a model";
    example = "sardonyx bench model.onnx --random --dim batch=8 --seconds 5";
  }
  void options(Options& o) override {
    session_.add(o);
    inputs_.add(o);
    o.value("--seconds", "S", seconds_, "how long to measure");
  }
  Outcome run(const Common& common, Terminal& out) override {
    auto options = session_.options(common);
    if (!options.ok()) return {options.status(), kUsage};
    const double before = anonymous_bytes(), t0 = now();
    auto session = session_.load(*options, out);
    if (!session.ok()) return refuse(std::move(session).status());
    const double load = now() - t0;
    inputs_.source.random = true;
    inputs_.source.dims = options->dims;
    auto feeds = gather_inputs((*session)->inputs(), inputs_.source);
    if (!feeds.ok()) return refuse(std::move(feeds).status());
    const auto in = in_order(**session, std::move(*feeds));
    if (!in.ok()) return refuse(in.status());
    std::vector<Value> results((*session)->outputs().size());
    double first = 0;
    std::vector<double> times;
    double shown = now();
    for (double begin = now(); times.size() < 3 || now() - begin < seconds_;) {
      const double t = now();
      Status s = (*session)->run(*in, results, {&interrupt()});
      if (!s.ok() && interrupted() && times.size() >= 3) break;  // tells what it has
      if (!s.ok()) return fail(std::move(s));
      (times.empty() && first == 0 ? first : times.emplace_back()) = now() - t;
      if (now() - shown > 0.2) {
        shown = now();
        out.progress(format("{} runs, {:.0f} of {:g} s", times.size(), shown - begin, seconds_));
      }
    }
    out.end_progress();
    const double memory = anonymous_bytes() - before;
    std::sort(times.begin(), times.end());
    auto at = [&](double q) { return times[size_t(q * double(times.size() - 1))]; };
    if (common.json) {
      Json j;
      j.open_object()
          .number("load_seconds", load)
          .number("first_seconds", first)
          .number("median_seconds", at(0.5));
      j.number("best_seconds", times.front())
          .number("p95_seconds", at(0.95))
          .integer("runs", int64_t(times.size()));
      j.number("anonymous_bytes", memory)
          .number("packed_bytes", double((*session)->packed_bytes()))
          .close_object();
      out.line(j.str());
      return done();
    }
    Table table({"", ""}, {false, true});
    table.row({"load", time_text(load)});
    table.row({"first run", time_text(first)});
    table.row({"median run", time_text(at(0.5))}, Style::bold);
    table.row({"best", time_text(times.front())});
    table.row({"95 of 100 within", time_text(at(0.95))});
    table.row({"runs", std::to_string(times.size())});
    table.row({"anonymous memory", bytes_text(memory)});
    table.row({"packed weights in it", bytes_text(double((*session)->packed_bytes()))});
    table.print(out);
    return done();
  }

 private:
  SessionFlags session_;
  InputFlags inputs_;
  double seconds_ = 2;
};

}  // namespace

std::unique_ptr<Command> bench() { return std::make_unique<Bench>(); }

}  // namespace sx::tools::commands
