// SPDX-License-Identifier: Apache-2.0
// WeightStaging: where weights lie between their file and their packed form, while a session is compiled. A
// file that was read by mapping it lies in small pages; to map a weight's pages one by one and to read across
// them takes longer than to copy it into huge ones first.
#pragma once
#include <span>

#include "base/huge_pages.h"
#include "base/mapped_file.h"
#include "base/parallel.h"
#include "base/task.h"

namespace sx {

class WeightStaging {
 public:
  WeightStaging() = default;
  ~WeightStaging();
  WeightStaging(const WeightStaging&) = delete;
  WeightStaging& operator=(const WeightStaging&) = delete;

  // Those bytes of the file, copied here until the next call; null: they are better read where they are
  // mapped. One thread at a time.
  Result<const void*> bring(const MappedFile& file, std::span<const uint8_t> bytes, Parallel& parallel);

 private:
  bool make_room(size_t bytes);

  void* memory_ = nullptr;
  size_t bytes_ = 0;
  MemoryCharge charge_;
};

}  // namespace sx
