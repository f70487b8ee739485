// SPDX-License-Identifier: Apache-2.0
// sardonyx demo: the bundled digit classifier on a few pictures.
#include <chrono>
#include <cmath>
#include <filesystem>

#include "base/format.h"
#include "onnx/npy.h"
#include "session_flags.h"

namespace sx::tools::commands {
namespace {

// The picture as half blocks: two rows of pixels a line.
std::string picture_line(const float* pixels, size_t width, size_t row, float top) {
  static const char* const kShades[] = {" ", "░", "▒", "▓", "█"};
  std::string text;
  for (size_t x = 0; x < width; ++x) {
    const int shade = std::min(4, int(pixels[row * width + x] / top * 4.99f));
    text += std::string(kShades[shade]) + kShades[shade];
  }
  return text;
}

std::string bar(double share, size_t width) {
  std::string text;
  for (size_t i = 0; i < size_t(std::lround(share * double(width))); ++i) text += "█";
  return text;
}

class Demo final : public Command {
 public:
  Demo() {
    name = "demo";
    group = Group::run;
    summary = "recognise a few handwritten digits with the bundled model";
    example = "sardonyx demo";
  }
  void options(Options& o) override {
    o.value("--folder", "DIR", folder_, "where digits.onnx and its pictures lie").is(Takes::folder);
    o.value("--picture", "N", picture_, "which sample, such as 3; all of them unless said");
  }

  Outcome run(const Common& common, Terminal& out) override {
    SessionOptions options;
    options.threads = common.threads;
    auto session = Session::load(folder_ + "/digits.onnx", options);
    if (!session.ok()) {
      return refuse(std::move(session).status().advise(
          "Run it from the project's folder, or say --folder models/digits."));
    }
    bool any = false;
    for (int digit = 0; digit < 10; ++digit) {
      const std::string path = format("{}/sample_{}.npy", folder_, digit);
      if ((picture_ >= 0 && digit != picture_) || !std::filesystem::exists(path)) continue;
      any = true;
      if (Status s = show(**session, path, out); !s.ok()) return fail(std::move(s));
    }
    if (!any) return refuse(Status(Code::not_found, format("no sample_{}.npy here", picture_)).in(folder_));
    out.line("What to try next:");
    out.line(format("  build/sardonyx explain {}/digits.onnx              what runs, and why so", folder_));
    out.line(format("  build/sardonyx profile {}/digits.onnx --random     where the time goes", folder_));
    out.line("  build/sardonyx run YOUR_MODEL.onnx --random");
    out.line("  .venv/bin/python -c \"import sardonyx; print(sardonyx.load('YOUR_MODEL.onnx'))\"");
    return done();
  }

 private:
  Status show(Session& session, const std::string& path, Terminal& out) {
    SX_ASSIGN(Tensor image, onnx::read_npy(path));
    std::vector<Value> in = {Value(image)}, results(session.outputs().size());
    SX_TRY(session.run(in, results));  // warm up
    const auto start = std::chrono::steady_clock::now();
    constexpr int kRuns = 100;
    for (int i = 0; i < kRuns; ++i) SX_TRY(session.run(in, results));
    const double seconds =
        std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count() / kRuns;
    const auto probabilities = results[0].tensor.as<float>();
    const auto pixels = image.as<float>();
    float top = 1e-6f;
    for (float p : pixels) top = std::max(top, p);
    const size_t width = size_t(image.dims().back()), height = size_t(image.count()) / width;
    size_t best = 0;
    for (size_t i = 0; i < probabilities.size(); ++i)
      best = probabilities[i] > probabilities[best] ? i : best;
    for (size_t row = 0; row < std::max<size_t>(height, 10); ++row) {
      std::string line =
          "  " + (row < height ? picture_line(pixels.data(), width, row, top) : std::string(2 * width, ' ')) +
          "   ";
      if (row < probabilities.size()) {
        const double p = probabilities[row];
        line += out.paint(row == best ? Style::good : Style::dim,
                          format("{}  {:5.1f}%  {}", row, p * 100, bar(p, 24)));
      }
      out.line(line);
    }
    out.line(format("  {} with {:.1f}%, in {}", out.paint(Style::bold, format("This is a {}", best)),
                    double(probabilities[best]) * 100, time_text(seconds)));
    out.line();
    return {};
  }

  std::string folder_ = "models/digits";
  int picture_ = -1;
};

}  // namespace

std::unique_ptr<Command> demo() { return std::make_unique<Demo>(); }

}  // namespace sx::tools::commands
