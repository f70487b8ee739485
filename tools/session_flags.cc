// SPDX-License-Identifier: Apache-2.0
#include "session_flags.h"

#include <CLI/CLI.hpp>

#include "base/cpu.h"
#include "base/format.h"

namespace sx::tools {

void SessionFlags::add(CLI::App& app, bool with_model) {
  if (with_model) app.add_option("model", model, "an ONNX model")->required();
  app.add_option("--provider", providers, "who runs it, best first: cpu, reference, or one from a plugin")
      ->allow_extra_args(false);
  app.add_option("--plugin", plugins, "a shared library that adds providers")->allow_extra_args(false);
  app.add_option("--dim", dims, "fix a named dimension, as in --dim batch=4")->allow_extra_args(false);
  app.add_option("--isa", isa, "highest vector level: baseline, avx2, avx512");
  app.add_flag("--no-rules", no_rules, "run the graph as it is written");
}

Result<SessionOptions> SessionFlags::options(const Common& common) const {
  SessionOptions o;
  o.threads = common.threads;
  o.rules = !no_rules;
  o.providers = providers;
  o.plugins = plugins;
  SX_ASSIGN(o.dims, parse_dims(dims));
  if (!isa.empty()) {
    Isa level{};
    if (!parse_isa(isa, level))
      return error(Code::invalid_argument, "--isa {}: expected baseline, avx2 or avx512", isa);
    if (level > detected_isa()) {
      return error(Code::unsupported, "--isa {}: this processor has {}", isa, isa_name(detected_isa()));
    }
    set_active_isa(level);
  }
  return o;
}

void InputFlags::add(CLI::App& app) {
  app.add_option("--input", source.named, "NAME=FILE, a .npy, .npz or .pb file; may be given several times")
      ->allow_extra_args(false);
  app.add_option("--inputs", source.archive, "an .npz file with one array for each input");
  app.add_flag("--random", source.random, "random values for inputs that are not given");
  app.add_option("--seed", source.seed, "of the random values");
}

}  // namespace sx::tools
