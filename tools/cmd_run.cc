// SPDX-License-Identifier: Apache-2.0
// sardonyx run: feeds a model and shows or stores what comes out.
#include <chrono>

#include "base/format.h"
#include "json.h"
#include "session_flags.h"
#include "show.h"
#include "signals.h"

namespace sx::tools::commands {
namespace {

class Run final : public Command {
 public:
  Run() {
    name = "run";
    group = Group::run;
    polls = true;
    summary = "run a model on files or random inputs";
    example = "sardonyx run model.onnx --input image=picture.npy -o result.npz";
  }
  void options(Options& o) override {
    session_.add(o);
    inputs_.add(o);
    o.value("--output-dir", "DIR", folder_, "write each output as a file into this folder").is(Takes::folder);
    o.value("-o,--output", "FILE.npz", archive_, "write the outputs into this file").is(Takes::new_file);
    o.value("--tap", "NAME", taps_, "also give this value from inside the graph");
    o.value("--timeout", "S", timeout_, "give up after this many seconds");
  }
  Outcome run(const Common& common, Terminal& out) override {
    auto options = session_.options(common);
    if (!options.ok()) return {options.status(), kUsage};
    options->taps = taps_;
    Cancel cancel(&interrupt());
    const auto loading = std::chrono::steady_clock::now();
    auto session = session_.load(*options, out);
    if (!session.ok()) return refuse(std::move(session).status());
    inputs_.source.dims = options->dims;
    auto feeds = gather_inputs((*session)->inputs(), inputs_.source);
    if (!feeds.ok()) return refuse(std::move(feeds).status());
    if (Status s = cancel.set_timeout_seconds(timeout_); !s.ok())
      return {std::move(s).in("--timeout"), kUsage};
    const auto start = std::chrono::steady_clock::now();
    auto values = (*session)->run(*feeds, {}, {&cancel});
    const auto end = std::chrono::steady_clock::now();
    if (!values.ok()) {
      Status s = std::move(values).status();
      const bool misfed = s.code() == Code::invalid_argument && feeds->size() < (*session)->inputs().size();
      if (misfed) s = std::move(s).advise("Give them with --input NAME=FILE, or use --random.");
      return s.code() == Code::invalid_argument ? refuse(std::move(s)) : fail(std::move(s));
    }
    if (Status s = write_outputs((*session)->outputs(), *values, folder_, archive_); !s.ok())
      return fail(std::move(s));
    const double load = std::chrono::duration<double>(start - loading).count(),
                 took = std::chrono::duration<double>(end - start).count();
    show(common, out, (*session)->outputs(), *values, load, took);
    return done();
  }

 private:
  void show(const Common& common, Terminal& out, const std::vector<ValueDesc>& outputs,
            const std::vector<Value>& values, double load, double took) {
    if (common.json) {
      Json j;
      j.open_object().number("load_seconds", load).number("run_seconds", took).key("outputs").open_array();
      for (size_t i = 0; i < values.size(); ++i) {
        j.open_object()
            .text("name", outputs[i].name)
            .text("type", to_string(type_of(values[i])))
            .text("preview", preview(values[i]))
            .close_object();
      }
      j.close_array().close_object();
      out.line(j.str());
      return;
    }
    if (common.quiet) return;
    Table table({"output", "type", "values"});
    for (size_t i = 0; i < values.size(); ++i) {
      table.row({escaped(outputs[i].name), to_string(type_of(values[i])), shorten(preview(values[i]), 70)});
    }
    table.print(out);
    out.note(out.paint(Style::dim, format("loaded in {}, ran in {}", time_text(load), time_text(took))));
  }

  SessionFlags session_;
  InputFlags inputs_;
  std::string folder_, archive_;
  std::vector<std::string> taps_;
  double timeout_ = 0;
};

}  // namespace

std::unique_ptr<Command> run() { return std::make_unique<Run>(); }

}  // namespace sx::tools::commands
