// SPDX-License-Identifier: Apache-2.0
// Results do not depend on the number of threads, and many threads may share a session.
#include <doctest/doctest.h>

#include <atomic>
#include <thread>

#include "model_case.h"

namespace sx::testing {
namespace {

const char* const kModels[] = {"residual_20", "residual_64",     "encoder_script", "encoder_written_out",
                               "voice",       "pipeline_forest", "loop_growing"};

SessionOptions with_threads(unsigned threads) {
  SessionOptions options;
  options.threads = threads;
  return options;
}

}  // namespace

TEST_CASE("one, two and eight threads give the same bits") {
  for (const char* model : kModels) {
    CAPTURE(model);
    std::vector<Value> first;
    for (unsigned threads : {1u, 2u, 8u}) {
      auto session = session_of(model, with_threads(threads));
      const std::vector<Value> out = run_all(*session, load_case(model, *session).inputs);
      if (first.empty()) first = out;
      CHECK(bit_equal(out, first));
    }
  }
}

TEST_CASE("eight threads share a session") {
  for (const char* model : kModels) {
    CAPTURE(model);
    auto session = session_of(model, with_threads(2));
    const ModelCase c = load_case(model, *session);
    const std::vector<Value> expected = run_all(*session, c.inputs);
    std::vector<std::thread> callers;
    std::atomic<int> wrong{0};
    for (int t = 0; t < 8; ++t) {
      callers.emplace_back([&] {
        for (int i = 0; i < 5; ++i) {
          std::vector<Value> out(session->outputs().size());
          const Status s = session->run(c.inputs, out);
          wrong += !s.ok() || !bit_equal(out, expected);
        }
      });
    }
    for (auto& t : callers) t.join();
    CHECK(wrong == 0);
  }
}

}  // namespace sx::testing
