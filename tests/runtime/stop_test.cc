// SPDX-License-Identifier: Apache-2.0
// A long loop ends promptly when it is cancelled or past its deadline; damaged models end in an error or an
// answer.
#include <doctest/doctest.h>

#include <chrono>
#include <fstream>
#include <iterator>
#include <random>
#include <thread>

#include "model_case.h"

namespace sx::testing {
namespace {

using Clock = std::chrono::steady_clock;

std::unique_ptr<Session> endless() { return session_of("loop_long", {}); }

std::vector<Value> many_turns() {
  auto row = Tensor::zeros(DType::f32, {4});
  REQUIRE(row.ok());
  return {Value(Tensor::scalar_i64(int64_t(1) << 60)), Value(*row)};
}

double seconds_since(Clock::time_point t) { return std::chrono::duration<double>(Clock::now() - t).count(); }

std::string bytes_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

}  // namespace

TEST_CASE("a cancelled loop ends with a clear error within a second") {
  auto session = endless();
  const std::vector<Value> in = many_turns();
  std::vector<Value> out(session->outputs().size());
  Cancel cancel;
  Status status;
  std::thread runner([&] { status = session->run(in, out, {&cancel}); });
  std::this_thread::sleep_for(std::chrono::milliseconds(100));
  const auto asked = Clock::now();
  cancel.request();
  runner.join();
  CHECK(status.code() == Code::cancelled);
  CHECK(status.message().find("cancelled") != std::string::npos);
  CHECK(seconds_since(asked) < 1.0);
}

TEST_CASE("a loop past its deadline ends with a clear error within a second") {
  auto session = endless();
  const std::vector<Value> in = many_turns();
  std::vector<Value> out(session->outputs().size());
  Cancel cancel;
  cancel.set_timeout(std::chrono::milliseconds(100));
  const auto start = Clock::now();
  const Status status = session->run(in, out, {&cancel});
  CHECK(status.code() == Code::deadline);
  CHECK(status.message().find("deadline") != std::string::npos);
  CHECK(seconds_since(start) < 1.1);
}

TEST_CASE("a thousand truncated and bit-flipped models end in an error or an answer") {
  std::mt19937_64 random(7);
  size_t refused = 0, answered = 0;
  for (const char* model :
       {"residual_free_size", "encoder_written_out", "voice_squeeze", "loop_growing", "pipeline_forest"}) {
    const ModelCase c = load_case(model, *session_of(model, {}));
    const std::string whole = bytes_of(c.model);
    REQUIRE(whole.size() > 100);
    for (int i = 0; i < 200; ++i) {
      std::string bytes = whole;
      if (i % 2 == 0) bytes.resize(random() % bytes.size());
      for (int flips = i % 2 == 0 ? 0 : 1 + i % 5; flips > 0; --flips)
        bytes[random() % std::min<size_t>(bytes.size(), 20000)] ^= char(1 << random() % 8);
      SessionOptions options;
      options.threads = 1;
      auto session = Session::from_bytes(bytes.data(), bytes.size(), options);
      Status status = session.ok() ? Status() : std::move(session).status();
      if (status.ok() && (*session)->inputs().size() == c.inputs.size()) {
        Cancel cancel;
        cancel.set_timeout(std::chrono::milliseconds(500));
        std::vector<Value> out((*session)->outputs().size());
        status = (*session)->run(c.inputs, out, {&cancel});
      }
      CHECK((status.ok() || !status.message().empty()));
      ++(status.ok() ? answered : refused);
    }
  }
  CHECK(refused + answered == 1000);
  CHECK(refused > 500);  // every truncation, at least
}

}  // namespace sx::testing
