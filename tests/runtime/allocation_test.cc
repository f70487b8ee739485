// SPDX-License-Identifier: Apache-2.0
// After warm-up a run with bound outputs allocates nothing: malloc and its kin, operator new and mmap are
// counted by interposition. Rotating eight shapes keeps that, and the number of plans stays bounded.
#include <doctest/doctest.h>
#include <sys/mman.h>

#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "model_case.h"

extern "C" {
void* __libc_malloc(size_t);
void* __libc_calloc(size_t, size_t);
void* __libc_realloc(void*, size_t);
void* __libc_memalign(size_t, size_t);
}

namespace {

std::atomic<bool> g_counting{false};
std::atomic<long> g_calls{0};
void count() {
  if (g_counting.load(std::memory_order_relaxed)) g_calls.fetch_add(1, std::memory_order_relaxed);
}

}  // namespace

// operator new goes through malloc and aligned_alloc, so it is counted with them.
extern "C" {
void* malloc(size_t n) { return count(), __libc_malloc(n); }
void* calloc(size_t n, size_t m) { return count(), __libc_calloc(n, m); }
void* realloc(void* p, size_t n) { return count(), __libc_realloc(p, n); }
void* memalign(size_t a, size_t n) { return count(), __libc_memalign(a, n); }
void* aligned_alloc(size_t a, size_t n) { return count(), __libc_memalign(a, n); }
int posix_memalign(void** p, size_t a, size_t n) {
  count();
  *p = __libc_memalign(a, n);
  return *p ? 0 : ENOMEM;
}
void* mmap(void* at, size_t n, int prot, int flags, int fd, off_t offset) noexcept {
  count();
  return mmap64(at, n, prot, flags, fd, offset);
}
}

namespace sx::testing {
namespace {

struct Feed {
  std::vector<Value> in, out;
};

long calls_during(Session& session, std::vector<Feed>& feeds, int rounds) {
  g_calls = 0;
  g_counting = true;
  Status status;
  for (int r = 0; r < rounds && status.ok(); ++r) {
    for (Feed& f : feeds) {
      status = session.run(f.in, f.out);
      if (!status.ok()) break;
    }
  }
  g_counting = false;
  REQUIRE_MESSAGE(status.ok(), status.to_string());
  return g_calls;
}

void check_warm(const char* model, std::vector<std::vector<Value>> inputs, const char* plugin = nullptr) {
  CAPTURE(model);
  SessionOptions options;
  options.threads = 2;
  if (plugin) options.plugins = {plugin};
  auto session = session_of(model, options);
  std::vector<Feed> feeds;
  for (auto& in : inputs) feeds.push_back({std::move(in), std::vector<Value>(session->outputs().size())});
  (void)calls_during(*session, feeds, 3);
  CHECK(calls_during(*session, feeds, 5) == 0);
  CHECK(session->program().plans() <= options.most_plans);
}

Value filled(Dims dims, float scale) {
  auto t = Tensor::allocate(DType::f32, std::move(dims));
  REQUIRE(t.ok());
  auto v = t->mutable_as<float>();
  for (size_t i = 0; i < v.size(); ++i) v[i] = scale * float(int(i * 37 % 17) - 8) / 8;
  return Value(std::move(t).value());
}

Value integers(Dims dims, int64_t most) {
  auto t = Tensor::allocate(DType::i64, std::move(dims));
  REQUIRE(t.ok());
  auto v = t->mutable_as<int64_t>();
  for (size_t i = 0; i < v.size(); ++i) v[i] = most == 0 ? 1 : int64_t(i * 7) % most;
  return Value(std::move(t).value());
}

std::vector<Value> encoder(int64_t batch, int64_t tokens) {
  return {integers({batch, tokens}, 11), integers({batch, tokens}, 0), integers({batch, tokens}, 2)};
}

}  // namespace

TEST_CASE("counting works") {
  g_calls = 0;
  g_counting = true;
  auto* p = new std::vector<int>(100);
  g_counting = false;
  delete p;
  CHECK(g_calls >= 2);
}

TEST_CASE("a warm run of a convolutional net allocates nothing") {
  for (const char* m : {"residual_20", "residual_64"}) {
    const int64_t side = m[9] == '2' ? 32 : 56;
    check_warm(m, {{filled({1, 3, side, side}, 1)}});
  }
}

TEST_CASE("a warm run of an encoder allocates nothing, in any spelling") {
  for (const char* m : {"encoder_dynamo", "encoder_script", "encoder_written_out"})
    check_warm(m, {encoder(1, 7)});
}

TEST_CASE("a warm run with branches, recurrence and state allocates nothing") {
  check_warm("voice", {{filled({1, 64}, 0.1f), filled({2, 1, 16}, 0.1f), Value(Tensor::scalar_i64(16000))}});
  check_warm("voice_squeeze", {{filled({1, 16, 1}, 0.1f), filled({2, 1, 16}, 0.1f)}});
}

TEST_CASE("a warm run through a plugin's tables allocates nothing") {
  for (const char* plugin : {SX_LOOPBACK, SX_TOY}) {
    CAPTURE(plugin);
    check_warm("residual_20", {{filled({1, 3, 32, 32}, 1)}}, plugin);
  }
}

TEST_CASE("eight shapes in turn allocate nothing either") {
  std::vector<std::vector<Value>> pictures, texts, voices;
  for (int64_t i = 1; i <= 8; ++i) {
    pictures.push_back({filled({i, 3, 32, 32}, 1)});
    texts.push_back(encoder(1 + i % 3, 3 + i));
    voices.push_back({filled({i, 16, 1}, 0.1f), filled({2, i, 16}, 0.1f)});
  }
  check_warm("residual_20", std::move(pictures));
  check_warm("encoder_script", std::move(texts));
  check_warm("voice_squeeze", std::move(voices));
}

}  // namespace sx::testing
