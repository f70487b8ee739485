// SPDX-License-Identifier: Apache-2.0
// The logging sink: the library says things only to whoever installed one; without a sink nothing is written.
#pragma once
#include <string_view>

namespace sx {

enum class LogLevel : int { debug = 0, info = 1, warn = 2, error = 3, off = 4 };

using LogSink = void (*)(void* context, LogLevel level, std::string_view message);

struct Log {
  LogSink sink = nullptr;
  void* context = nullptr;
  LogLevel least = LogLevel::warn;

  bool wants(LogLevel level) const { return sink != nullptr && level >= least; }
  void operator()(LogLevel level, std::string_view message) const {
    if (wants(level)) sink(context, level, message);
  }
};

}  // namespace sx
