// SPDX-License-Identifier: Apache-2.0
// contained: the standard library's containers throw where there is no memory, and a mistake of ours may be
// found too late to return; here that becomes an error like any other, so that nothing thrown leaves the
// library.
#pragma once
#include <new>
#include <stdexcept>

#include "base/task.h"

namespace sx {

// Thrown where a container of the standard library asks for more than the current task's account has.
class MemoryRefused : public std::bad_alloc {
 public:
  explicit MemoryRefused(size_t bytes) : bytes_(bytes) {}
  size_t bytes() const { return bytes_; }

 private:
  size_t bytes_;
};

template <class F>
auto contained(F&& f) -> decltype(f()) {
  try {
    return f();
  } catch (const TaskStopped&) {
    return check_stop();
  } catch (const MemoryRefused& refused) {
    return memory_refused(refused.bytes(), "working memory");
  } catch (const std::bad_alloc&) {
    return Status(Code::out_of_memory, "the system has no memory to give");
  } catch (const std::length_error&) {
    return Status(Code::out_of_memory, "wants a list longer than memory can hold");
  } catch (const std::logic_error& mistake) {  // ours
    return Status(Code::internal, mistake.what());
  }
}

}  // namespace sx
