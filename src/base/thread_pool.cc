// SPDX-License-Identifier: Apache-2.0
#include "base/thread_pool.h"

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

#include "base/cpu.h"
#include "base/task.h"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace sx {
namespace {

// About ten microseconds: long enough to bridge two kernels of one run, short enough not to burn a core.
constexpr int kSpins = 400;

void pause_briefly() {
#if defined(__x86_64__)
  _mm_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

}  // namespace

struct ThreadPool::State {
  using Body = FunctionRef<void(size_t, size_t)>;

  std::vector<std::thread> workers;
  std::atomic<bool> busy{false};
  bool stopping = false;

  // One region at a time. `ticket` is odd-free: it only grows, and a worker joins each value at most once.
  std::atomic<uint64_t> ticket{0};
  std::atomic<size_t> next{0};
  size_t chunks = 0;
  Body body;
  Task task;                  // the caller's
  std::exception_ptr thrown;  // by a body, the first; no memory where the standard library wanted some
  std::atomic<bool> failed{false};
  std::atomic<unsigned> inside{0};  // workers that may touch the region's fields
  std::atomic<bool> open{false};

  std::mutex mutex;
  std::condition_variable wake;
  std::atomic<unsigned> sleeping{0};

  // Once the task is stopped no body is called any more, in this region or a later one of the same task.
  void drain(size_t worker) try {
    while (!stop_requested()) {
      const size_t i = next.fetch_add(1, std::memory_order_relaxed);
      if (i >= chunks) return;
      body(i, worker);
    }
  } catch (...) {
    if (!failed.exchange(true)) thrown = std::current_exception();
    next.store(chunks, std::memory_order_relaxed);
  }

  void work(size_t worker) {
    uint64_t seen = 0;
    for (;;) {
      for (int spin = 0; spin < kSpins && ticket.load(std::memory_order_acquire) == seen; ++spin)
        pause_briefly();
      if (ticket.load(std::memory_order_acquire) == seen) {
        std::unique_lock lock(mutex);
        sleeping.fetch_add(1, std::memory_order_seq_cst);
        wake.wait(lock, [&] { return stopping || ticket.load(std::memory_order_seq_cst) != seen; });
        sleeping.fetch_sub(1, std::memory_order_relaxed);
        if (stopping) return;
      }
      seen = ticket.load(std::memory_order_acquire);
      inside.fetch_add(1, std::memory_order_seq_cst);
      if (open.load(std::memory_order_seq_cst)) {
        const TaskScope scope(task);
        drain(worker);
      }
      inside.fetch_sub(1, std::memory_order_release);
    }
  }
};

unsigned most_threads() { return std::max(64u, 4 * usable_cpus()); }

ThreadPool::ThreadPool(unsigned threads) : state_(std::make_unique<State>()) {
  threads = threads == 0 ? usable_cpus() : std::min(threads, most_threads());
  state_->workers.reserve(threads);
  try {
    for (unsigned i = 1; i < threads; ++i)
      state_->workers.emplace_back([s = state_.get(), i] { s->work(i); });
  } catch (...) {  // no more can be had: those that started do the work
  }
}

ThreadPool::~ThreadPool() {
  {
    std::lock_guard lock(state_->mutex);
    state_->stopping = true;
    state_->ticket.fetch_add(1, std::memory_order_seq_cst);
  }
  state_->wake.notify_all();
  // A worker that saw the ticket without sleeping finds no open region, comes round and sees `stopping`.
  for (auto& t : state_->workers) t.join();
}

size_t ThreadPool::width() const { return state_->workers.size() + 1; }

void ThreadPool::run(size_t chunks, FunctionRef<void(size_t, size_t)> body) {
  State& s = *state_;
  if (chunks <= 1 || s.workers.empty() || s.busy.exchange(true, std::memory_order_acquire)) {
    for (size_t i = 0; i < chunks && !stop_requested(); ++i) body(i, 0);
    return;
  }
  s.chunks = chunks;
  s.body = body;
  s.task = current_task();
  s.next.store(0, std::memory_order_relaxed);
  s.open.store(true, std::memory_order_seq_cst);
  s.ticket.fetch_add(1, std::memory_order_seq_cst);
  if (s.sleeping.load(std::memory_order_seq_cst) > 0) {
    { std::lock_guard lock(s.mutex); }
    s.wake.notify_all();
  }
  s.drain(0);
  // No worker may enter any more; wait for those that are inside.
  s.open.store(false, std::memory_order_seq_cst);
  while (s.inside.load(std::memory_order_seq_cst) != 0) pause_briefly();
  const std::exception_ptr thrown = std::exchange(s.thrown, nullptr);
  s.failed.store(false, std::memory_order_relaxed);
  s.busy.store(false, std::memory_order_release);
  if (thrown) std::rethrow_exception(thrown);
}

}  // namespace sx
