// SPDX-License-Identifier: Apache-2.0
#include "base/cancel.h"

namespace sx {

Status Cancel::check() const {
  if (requested_.load(std::memory_order_relaxed)) return Status(Code::cancelled, "the run was cancelled");
  if (deadline_ && Clock::now() >= *deadline_) {
    return Status(Code::deadline, "the run passed its deadline");
  }
  return parent_ ? parent_->check() : Status();
}

}  // namespace sx
