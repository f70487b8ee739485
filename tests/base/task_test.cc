// SPDX-License-Identifier: Apache-2.0
// Accounts of memory, stopping a pool, and threads that cannot be had.
#include "base/task.h"

#include <doctest/doctest.h>

#include <atomic>
#include <chrono>
#include <cmath>
#include <thread>

#include "base/contained.h"
#include "base/cpu.h"
#include "base/thread_pool.h"
#include "base/workspace.h"

namespace sx {
namespace {

struct Keeper final : MemoryKeeper {
  MemoryBudget& budget;
  size_t kept;
  Keeper(MemoryBudget& b, size_t bytes) : budget(b), kept(bytes) {
    REQUIRE(b.take(bytes));
    b.join(this);
  }
  ~Keeper() { budget.leave(this); }
  void release_kept() override { budget.give(std::exchange(kept, 0)); }
};

}  // namespace

TEST_CASE("a budget refuses what does not fit and gets back what is given") {
  auto budget = std::make_shared<MemoryBudget>(1000);
  CHECK(budget->take(600));
  CHECK_FALSE(budget->take(401));
  CHECK_FALSE(budget->take(SIZE_MAX));
  CHECK(budget->take(400));
  budget->give(1000);
  CHECK(budget->used() == 0);
  CHECK_FALSE(budget->take(600, 500));  // the smaller limit holds
}

TEST_CASE("keepers give back before anybody is refused") {
  auto budget = std::make_shared<MemoryBudget>(1000);
  Keeper keeper(*budget, 800);
  CHECK_FALSE(budget->take(1001));
  CHECK(keeper.kept == 800);  // would not have helped
  CHECK(budget->take(900));
  CHECK(keeper.kept == 0);
}

TEST_CASE("the error says what was wanted, what is in use and the limit") {
  auto budget = std::make_shared<MemoryBudget>(8'000'000'000);
  budget->add(12'000'000);
  const TaskScope scope({budget.get(), SIZE_MAX, nullptr});
  const auto refused = charge_memory(4'000'000'000'000, "float32[1000000000000]");
  CHECK(refused.status().code() == Code::out_of_memory);
  CHECK(refused.status().message() ==
        "wants 4.0 TB for float32[1000000000000], 12 MB of the limit of 8.0 GB are in use");
  const Status list = contained([]() -> Status {
    Workspace<double> numbers(size_t(1) << 40);
    return Status(Code::internal, "it was there");
  });
  CHECK(list.code() == Code::out_of_memory);
  CHECK(budget->used() == 12'000'000);
}

TEST_CASE("amounts of memory") {
  CHECK(*parse_memory("500M") == 500'000'000);
  CHECK(*parse_memory("1.5 GB") == 1'500'000'000);
  CHECK(*parse_memory("12") == 12);
  CHECK(*parse_memory("2k") == 2000);
  CHECK(*parse_memory("50%") == machine_memory() / 2);
  for (const char* wrong : {"", "G", "-2G", "2X", "nan", "inf", "0", "1e300", "0x10", "2 G B", "5%%"}) {
    CAPTURE(std::string(wrong));
    CHECK_FALSE(parse_memory(wrong).ok());
  }
  CHECK(bytes_text(999) == "999 bytes");
  CHECK(bytes_text(1500) == "1.5 kB");
  CHECK(bytes_text(999'600) == "1.0 MB");
  CHECK(machine_memory() > 0);
}

TEST_CASE("a stopped task leaves chunks out, here and in later regions") {
  ThreadPool pool(2);
  Cancel cancel;
  const TaskScope scope({nullptr, SIZE_MAX, &cancel});
  std::atomic<size_t> done{0};
  pool.run(100000, [&](size_t chunk, size_t) {
    if (chunk == 50) cancel.request();
    done += 1;
  });
  CHECK(done < 1000);
  const size_t before = done;
  pool.run(10, [&](size_t, size_t) { done += 1; });
  pool.run(1, [&](size_t, size_t) { done += 1; });
  CHECK(done == before);
  CHECK(check_stop().code() == Code::cancelled);
}

TEST_CASE("a deadline stops a pool, and stays passed") {
  ThreadPool pool(2);
  Cancel parent, cancel(&parent);
  parent.set_timeout(std::chrono::milliseconds(20));
  const TaskScope scope({nullptr, SIZE_MAX, &cancel});
  const auto start = Cancel::Clock::now();
  pool.run(1000000, [&](size_t, size_t) { std::this_thread::sleep_for(std::chrono::milliseconds(1)); });
  CHECK(Cancel::Clock::now() - start < std::chrono::seconds(1));
  CHECK(stop_requested());
  CHECK(check_stop().code() == Code::deadline);
}

TEST_CASE("timeouts as people give them") {
  Cancel cancel;
  CHECK_FALSE(cancel.set_timeout_seconds(-1).ok());
  CHECK_FALSE(cancel.set_timeout_seconds(std::nan("")).ok());
  CHECK(cancel.set_timeout_seconds(0).ok());
  CHECK(cancel.set_timeout_seconds(1e300).ok());
  CHECK(cancel.check().ok());
  CHECK(cancel.set_timeout_seconds(1e-9).ok());
  std::this_thread::sleep_for(std::chrono::milliseconds(1));
  CHECK(cancel.check().code() == Code::deadline);
  CHECK(cancel.stopped());
}

TEST_CASE("what a body throws reaches the caller, and the pool goes on") {
  ThreadPool pool(3);
  const Status status = contained([&]() -> Status {
    pool.run(1000, [&](size_t chunk, size_t) {
      if (chunk == 500) throw std::bad_alloc();
    });
    return {};
  });
  CHECK(status.code() == Code::out_of_memory);
  std::atomic<size_t> done{0};
  pool.run(1000, [&](size_t, size_t) { done += 1; });
  CHECK(done == 1000);
}

TEST_CASE("workers take memory from the caller's account") {
  ThreadPool pool(4);
  auto budget = std::make_shared<MemoryBudget>(size_t(1) << 30);
  const TaskScope scope({budget.get(), SIZE_MAX, nullptr});
  std::atomic<int> other{0};
  pool.run(1000, [&](size_t, size_t) { other += current_task().memory != budget.get(); });
  CHECK(other == 0);
}

TEST_CASE("a foolish number of threads is cut") {
  const ThreadPool pool(100000);
  CHECK(pool.width() <= most_threads());
  CHECK(most_threads() >= 64);
  CHECK(ThreadPool(0).width() <= usable_cpus());
}

}  // namespace sx
