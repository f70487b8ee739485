// SPDX-License-Identifier: Apache-2.0
#include "progress.h"

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <mutex>
#include <thread>

#include "base/format.h"
#include "signals.h"

namespace sx::tools {
namespace {

// Bytes that this process has written so far, copies from file to file included.
uint64_t written() {
  unsigned long long bytes = 0;
  if (FILE* f = std::fopen("/proc/self/io", "r")) {
    char line[128];
    while (std::fgets(line, sizeof line, f)) std::sscanf(line, "wchar: %llu", &bytes);
    std::fclose(f);
  }
  return bytes;
}

}  // namespace

struct Busy::State {
  Terminal& out;
  std::string what;
  uint64_t bytes, before;
  std::mutex mutex;
  std::condition_variable wake;
  bool over = false;
  std::thread thread;

  void show() {
    using Clock = std::chrono::steady_clock;
    const auto begin = Clock::now();
    std::unique_lock lock(mutex);
    while (!wake.wait_for(lock, std::chrono::milliseconds(200), [&] { return over; })) {
      const uint64_t done = bytes > 0 ? written() - before : 0;
      const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(Clock::now() - begin).count();
      out.progress(done > 0 ? format("{}: {} of {}", what, bytes_text(double(std::min(done, bytes))),
                                     bytes_text(double(bytes)))
                            : format("{}: {} s", what, seconds));
    }
  }
};

Busy::Busy(Terminal& out, const std::string& what, uint64_t bytes) {
  if (!out.shows_progress()) return;
  state_.reset(new State{.out = out, .what = what, .bytes = bytes, .before = written()});
  const HoldInterrupts hold;  // the new thread inherits it: Ctrl-C is for the one that works
  state_->thread = std::thread([s = state_.get()] { s->show(); });
}

Busy::~Busy() {
  if (!state_) return;
  {
    const std::lock_guard lock(state_->mutex);
    state_->over = true;
  }
  state_->wake.notify_one();
  state_->thread.join();
  state_->out.end_progress();
}

}  // namespace sx::tools
