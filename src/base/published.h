// SPDX-License-Identifier: Apache-2.0
// Published<T>: a value that many threads read without a lock and few replace. Readers get the one that was
// there when they asked, and keep it as long as they like.
#pragma once
#include <atomic>
#include <memory>
#include <vector>

namespace sx {

template <class T>
class Published {
 public:
  explicit Published(T first = {}) : current_(new Pointer(std::make_shared<const T>(std::move(first)))) {}
  ~Published() { delete current_.load(); }
  Published(const Published&) = delete;
  Published& operator=(const Published&) = delete;

  std::shared_ptr<const T> get() const {
    readers_.fetch_add(1);
    std::shared_ptr<const T> found = *current_.load();
    readers_.fetch_sub(1);
    return found;
  }
  // One caller at a time. A reader that began before the exchange may still be copying the old pointer, so it
  // stays until a moment without readers has been seen after it was taken away.
  void set(T next) {
    retired_.emplace_back(current_.exchange(new Pointer(std::make_shared<const T>(std::move(next)))));
    if (readers_.load() == 0) retired_.clear();
  }

 private:
  using Pointer = std::shared_ptr<const T>;
  std::atomic<Pointer*> current_;
  mutable std::atomic<size_t> readers_{0};
  std::vector<std::unique_ptr<Pointer>> retired_;
};

}  // namespace sx
