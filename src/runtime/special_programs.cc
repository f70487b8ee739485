// SPDX-License-Identifier: Apache-2.0
#include "runtime/special_programs.h"

#include <algorithm>
#include <utility>

#include "base/hash.h"

namespace sx {
namespace {

const Dims& dims_of(const Value& v) {
  static const Dims none{};
  return v.is_tensor() ? v.tensor.dims() : none;
}

uint64_t hash_of(std::span<const Value> inputs) {
  uint64_t h = inputs.size() + 1;
  for (const Value& v : inputs) {
    h = hash_mix(h, dims_of(v).size());
    for (int64_t d : dims_of(v)) h = hash_mix(h, uint64_t(d));
  }
  return h;
}

}  // namespace

bool SpecialPrograms::fits(const Entry& entry, std::span<const Value> inputs) {
  return std::equal(entry.sizes.begin(), entry.sizes.end(), inputs.begin(), inputs.end(),
                    [](const Dims& d, const Value& v) { return d == dims_of(v); });
}

std::shared_ptr<Compiled> SpecialPrograms::find(std::span<const Value> inputs) const {
  const std::shared_ptr<const Table> table = table_.get();
  for (auto it = table->rbegin(); it != table->rend(); ++it) {
    if (!fits(**it, inputs)) continue;
    (*it)->last_used.store(clock_.fetch_add(1, std::memory_order_relaxed), std::memory_order_relaxed);
    return (*it)->compiled;
  }
  return nullptr;
}

bool SpecialPrograms::came_before(std::span<const Value> inputs) {
  const uint64_t hash = hash_of(inputs);
  if (std::find(seen_.begin(), seen_.end(), hash) != seen_.end()) return true;
  seen_[next_seen_++ % seen_.size()] = hash;
  return false;
}

bool SpecialPrograms::worth_making(std::span<const Value> inputs, Time run) {
  const std::shared_ptr<const Table> table = table_.get();
  if (std::any_of(table->begin(), table->end(), [&](const auto& entry) { return fits(*entry, inputs); }))
    return false;  // one could not be made
  std::lock_guard lock(mutex_);
  owed_ = std::max(Time(0), owed_ - run);
  // Once the table was full, the runs of the general program must have taken as long as the last one took to
  // make: sizes that keep changing cost at most twice the time.
  if (!came_before(inputs) || making_ || (made_ >= most_ && owed_ > Time(0))) return false;
  making_ = true;
  return true;
}

bool SpecialPrograms::begin() {
  std::lock_guard lock(mutex_);
  return !std::exchange(making_, true);
}

void SpecialPrograms::finished(std::span<const Value> inputs, std::shared_ptr<Compiled> made, Time took) {
  auto entry = std::make_shared<Entry>();
  for (const Value& v : inputs) entry->sizes.push_back(dims_of(v));
  entry->compiled = std::move(made);
  entry->last_used = clock_.fetch_add(1, std::memory_order_relaxed);
  std::lock_guard lock(mutex_);
  Table next = *table_.get();
  std::erase_if(next, [&](const auto& e) { return fits(*e, inputs); });
  if (next.size() >= std::max<size_t>(most_, 1)) {
    next.erase(std::min_element(next.begin(), next.end(), [](const auto& a, const auto& b) {
      return a->last_used.load(std::memory_order_relaxed) < b->last_used.load(std::memory_order_relaxed);
    }));
  }
  next.push_back(std::move(entry));
  table_.set(std::move(next));
  ++made_;
  making_ = false;
  owed_ = took;
}

void SpecialPrograms::given_up() {
  std::lock_guard lock(mutex_);
  making_ = false;
}

void SpecialPrograms::clear() {
  std::lock_guard lock(mutex_);
  table_.set({});
}

std::shared_ptr<Compiled> SpecialPrograms::newest() const {
  const std::shared_ptr<const Table> table = table_.get();
  for (auto it = table->rbegin(); it != table->rend(); ++it) {
    if ((*it)->compiled) return (*it)->compiled;
  }
  return nullptr;
}

}  // namespace sx
