// SPDX-License-Identifier: Apache-2.0
// WeightStore: packed once, shared, dropped with the last user; files are checked before, and read again
// after.
#include "runtime/weights.h"

#include <doctest/doctest.h>

#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>

#include "base/mapped_file.h"
#include "base/task.h"
#include "runtime/weight_staging.h"

namespace sx::testing {
namespace {

struct TemporaryFile {
  std::string path = [] {
    char name[] = "/tmp/sardonyx_weights_XXXXXX";
    const int fd = ::mkstemp(name);
    REQUIRE(fd >= 0);
    ::close(fd);
    return std::string(name);
  }();
  ~TemporaryFile() { std::remove(path.c_str()); }
  void append(const std::vector<float>& values) const {
    std::ofstream file(path, std::ios::binary | std::ios::app);
    file.write(reinterpret_cast<const char*>(values.data()), std::streamsize(values.size() * sizeof(float)));
  }
};

Tensor tensor_in(const std::shared_ptr<const MappedFile>& file) {
  const auto bytes = file->bytes();
  auto t = Tensor::over(Buffer::in_file(file, bytes.data(), bytes.size()), 0, DType::f32,
                        {int64_t(bytes.size() / sizeof(float))});
  REQUIRE(t.ok());
  return *t;
}

Result<std::shared_ptr<const Buffer>> copy(WeightStore& store, const Tensor& t, const std::string& kind) {
  Serial serial;
  return store.pack(t, kind, t.bytes(), serial, [&](const void* from, void* to) -> Status {
    std::memcpy(to, from, t.bytes());
    return {};
  });
}

}  // namespace

TEST_CASE("weights of a file are packed once and the file can be read afterwards") {
  TemporaryFile made;
  std::vector<float> values(300'000);
  for (size_t i = 0; i < values.size(); ++i) values[i] = float(i);
  made.append(values);
  auto file = MappedFile::open(made.path);
  REQUIRE(file.ok());
  const Tensor t = tensor_in(*file);
  CHECK(t.buffer()->file() == file->get());
  WeightStore store;
  {
    auto first = copy(store, t, "copy"), second = copy(store, t, "copy"), other = copy(store, t, "other");
    REQUIRE((first.ok() && second.ok() && other.ok()));
    CHECK(first->get() == second->get());
    CHECK(first->get() != other->get());
    CHECK(std::memcmp((*first)->data(), values.data(), t.bytes()) == 0);
    CHECK(store.packed_bytes() == 2 * t.bytes());
  }
  CHECK(store.packed_bytes() == 0);
  CHECK(std::memcmp(t.data(), values.data(), t.bytes()) == 0);
}

TEST_CASE("packed weights lie apart, aligned, with zeros behind them, and go one by one") {
  std::vector<Tensor> sources;
  for (size_t i = 0; i < 40; ++i) {
    auto t = Tensor::allocate(DType::f32, {int64_t(50'000 + 7 * i)});  // 8 MB together, in two slabs
    REQUIRE(t.ok());
    for (float& v : t->mutable_as<float>()) v = float(i);
    sources.push_back(*t);
  }
  WeightStore store;
  std::vector<std::shared_ptr<const Buffer>> packed;
  size_t bytes = 0;
  for (const Tensor& t : sources) {
    auto made = copy(store, t, "copy");
    REQUIRE(made.ok());
    packed.push_back(*made);
    bytes += t.bytes();
  }
  CHECK(store.packed_bytes() == bytes);
  const auto intact = [&](size_t i) {
    const auto* data = static_cast<const char*>(packed[i]->data());
    const char zeros[kAlignment] = {};
    return reinterpret_cast<uintptr_t>(data) % kAlignment == 0 &&
           std::memcmp(data, sources[i].data(), sources[i].bytes()) == 0 &&
           std::memcmp(data + sources[i].bytes(), zeros, sizeof zeros) == 0;
  };
  for (size_t i = 0; i < packed.size(); ++i) CHECK(intact(i));
  for (size_t i = 0; i < packed.size(); i += 2) packed[i].reset();  // their pages go back; the others stay
  for (size_t i = 1; i < packed.size(); i += 2) CHECK(intact(i));
  packed.clear();
  CHECK(store.packed_bytes() == 0);
}

TEST_CASE("weights of a large file are brought to memory while somebody holds the staging") {
  TemporaryFile made;
  std::vector<float> values(300'000);
  for (size_t i = 0; i < values.size(); ++i) values[i] = float(i);
  made.append(values);
  REQUIRE(::truncate(made.path.c_str(), off_t{64} << 20) == 0);  // zeros that take no room
  auto file = MappedFile::open(made.path);
  REQUIRE(file.ok());
  const auto first_numbers = [](const std::shared_ptr<const MappedFile>& in, int64_t n) {
    auto t = Tensor::over(tensor_in(in).buffer(), 0, DType::f32, {n});
    REQUIRE(t.ok());
    return *t;
  };
  const Tensor large = first_numbers(*file, 300'000), few = first_numbers(*file, 100);
  WeightStore store;
  Serial serial;
  // Whether `fill` was given the tensor's own place; what it was given is the tensor's contents.
  const auto in_place = [&](const Tensor& t, const std::string& kind) {
    bool own = false;
    const auto packed = store.pack(t, kind, t.bytes(), serial, [&](const void* from, void* to) -> Status {
      own = from == t.data();
      std::memcpy(to, from, t.bytes());
      return {};
    });
    REQUIRE(packed.ok());
    CHECK(std::memcmp((*packed)->data(), t.data(), t.bytes()) == 0);
    return own;
  };
  CHECK(in_place(large, "nobody holds it"));
  auto staging = store.stage();
  CHECK(store.stage() == staging);
  CHECK_FALSE(in_place(large, "staged"));
  CHECK(in_place(few, "too few to be worth it"));
  REQUIRE(::truncate(made.path.c_str(), off_t(values.size() * sizeof(float))) == 0);
  auto cut = MappedFile::open(made.path);
  REQUIRE(cut.ok());
  CHECK(in_place(first_numbers(*cut, 300'000), "of a small file"));
  const auto account = std::make_shared<MemoryBudget>(size_t{1} << 20);  // of memory that does not suffice
  staging.reset();
  staging = store.stage();
  {
    const TaskScope scope({account.get(), SIZE_MAX, nullptr});
    const auto copied = staging->bring(**cut, (*cut)->bytes(), serial);
    REQUIRE(copied.ok());
    CHECK(*copied == nullptr);
  }
  staging.reset();
}

TEST_CASE("weights of a file that changed are not packed") {
  TemporaryFile made;
  made.append(std::vector<float>(100'000, 1.0f));
  auto file = MappedFile::open(made.path);
  REQUIRE(file.ok());
  const Tensor t = tensor_in(*file);
  made.append({2.0f});
  WeightStore store;
  const auto packed = copy(store, t, "copy");
  REQUIRE(!packed.ok());
  CHECK(packed.status().to_string().find("changed") != std::string::npos);
}

}  // namespace sx::testing
