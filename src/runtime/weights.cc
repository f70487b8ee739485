// SPDX-License-Identifier: Apache-2.0
#include "runtime/weights.h"

#include <mutex>
#include <unordered_map>

#include "base/format.h"
#include "base/mapped_file.h"
#include "base/task.h"
#include "runtime/weight_slab.h"
#include "runtime/weight_staging.h"

namespace sx {
namespace {

// Bytes of a file whose pages are not left mapped: its weights are brought to memory before they are packed,
// and pages that were mapped all the same are given back. Of a smaller one they are few, and either takes a
// tenth of its load.
constexpr size_t kLargeFile = size_t{64} << 20;

}  // namespace

struct WeightStore::State {
  mutable std::mutex mutex;
  WeightSlabs slabs;
  std::weak_ptr<WeightStaging> staging;
  std::unordered_map<std::string, std::weak_ptr<const Buffer>> packed;
};

WeightStore::WeightStore() : state_(std::make_unique<State>()) {}
WeightStore::~WeightStore() = default;

Result<std::shared_ptr<const Buffer>> WeightStore::pack(const Tensor& source, const std::string& kind,
                                                        size_t bytes, Parallel& parallel,
                                                        FunctionRef<Status(const void*, void*)> fill) {
  // The source is identified by its memory: the same mapped bytes are the same weights.
  const std::string key =
      format("{} {} {} {}", kind, source.data(), source.bytes(), to_string(source.dims()));
  std::lock_guard lock(state_->mutex);
  if (auto found = state_->packed.find(key); found != state_->packed.end()) {
    if (auto buffer = found->second.lock()) return buffer;
  }
  const MappedFile* file = source.buffer() ? source.buffer()->file() : nullptr;
  if (file) SX_TRY(file->check_unchanged());
  const std::span<const uint8_t> there(static_cast<const uint8_t*>(source.data()), source.bytes());
  const void* here = nullptr;
  const bool large = file && file->bytes().size() >= kLargeFile;
  if (const auto staging = state_->staging.lock(); large && staging) {
    SX_ASSIGN(here, staging->bring(*file, there, parallel));
  }
  SX_ASSIGN(std::shared_ptr<Buffer> buffer, state_->slabs.allocate(bytes));
  SX_TRY(fill(here ? here : source.data(), buffer->mutable_data()));
  SX_TRY(check_stop());  // what is half packed must not be shared
  // Who reads the source after all gets its pages from the file again.
  if (large && !here) file->release(size_t(there.data() - file->bytes().data()), there.size());
  // The packed form keeps its source alive: the key's address must not be given to other weights meanwhile.
  struct Holder {
    std::shared_ptr<Buffer> buffer, source;
  };
  auto holder = std::make_shared<Holder>(Holder{std::move(buffer), source.buffer()});
  std::shared_ptr<const Buffer> result(holder, holder->buffer.get());
  state_->packed[key] = result;
  return result;
}

std::shared_ptr<WeightStaging> WeightStore::stage() {
  std::lock_guard lock(state_->mutex);
  std::shared_ptr<WeightStaging> staging = state_->staging.lock();
  if (!staging) state_->staging = staging = std::make_shared<WeightStaging>();
  return staging;
}

size_t WeightStore::packed_bytes() const {
  std::lock_guard lock(state_->mutex);
  size_t bytes = 0;
  for (const auto& [key, weak] : state_->packed) {
    if (auto buffer = weak.lock()) bytes += buffer->bytes();
  }
  return bytes;
}

}  // namespace sx
