// SPDX-License-Identifier: Apache-2.0
// TextAccount: counts the letters of texts that are put into a string tensor, before they are put there.
#pragma once
#include "base/memory_budget.h"
#include "tensor/tensor.h"

namespace sx {

class TextAccount {
 public:
  explicit TextAccount(Tensor& to);
  ~TextAccount();  // what was taken comes back with the tensor's memory
  TextAccount(const TextAccount&) = delete;
  TextAccount& operator=(const TextAccount&) = delete;

  // False where the current task's account has no room for a text of this length: it must not be made.
  bool take(size_t letters) {
    if (letters < sizeof(std::string) / 2 || !memory_) return true;
    if (letters <= reserved_ - used_) return used_ += letters, true;
    return reserve(letters);
  }

 private:
  bool reserve(size_t letters);

  Tensor& to_;
  MemoryBudget* memory_;
  size_t reserved_ = 0, used_ = 0;
  bool refused_ = false;
};

}  // namespace sx
