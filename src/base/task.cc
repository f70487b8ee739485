// SPDX-License-Identifier: Apache-2.0
#include "base/task.h"

#include <algorithm>

#include "base/format.h"

namespace sx {
namespace {

thread_local Task t_task;
thread_local RefusalWatch* t_watch = nullptr;

}  // namespace

const Task& current_task() { return t_task; }

TaskScope::TaskScope(const Task& task) : before_(t_task) { t_task = task; }
TaskScope::~TaskScope() { t_task = before_; }

size_t memory_limit() {
  const Task& task = t_task;
  return task.memory ? std::min(task.memory->limit(), task.memory_limit) : machine_memory();
}

RefusalWatch::RefusalWatch() : outer_(t_watch) { t_watch = this; }
RefusalWatch::~RefusalWatch() { t_watch = outer_; }

Status memory_refused(size_t bytes, std::string_view what) {
  const Task& task = t_task;
  const std::string wants = format("wants {}{}{}", bytes_text(bytes), what.empty() ? "" : " for ", what);
  Status status = task.memory ? error(Code::out_of_memory, "{}, {} of the limit of {} are in use", wants,
                                      bytes_text(task.memory->used()), bytes_text(memory_limit()))
                              : error(Code::out_of_memory, "{}, there are {} in all", wants,
                                      bytes_text(machine_memory()));
  if (t_watch) t_watch->seen_ = status;
  return status;
}

Result<MemoryCharge> charge_memory(size_t bytes, std::string_view what) {
  const Task& task = t_task;
  if (!task.memory) {
    if (bytes > machine_memory()) return memory_refused(bytes, what);
    return MemoryCharge();
  }
  if (!task.memory->take(bytes, task.memory_limit)) return memory_refused(bytes, what);
  return MemoryCharge(task.memory->shared_from_this(), bytes);
}

Status check_memory() {
  const Task& task = t_task;
  if (!task.memory) return {};
  const size_t used = task.memory->used(), limit = memory_limit();
  if (used <= limit) return {};
  return error(Code::out_of_memory, "{} are in use, the limit is {}", bytes_text(used), bytes_text(limit));
}

bool stop_requested() { return t_task.cancel && t_task.cancel->stopped(); }
Status check_stop() { return t_task.cancel ? t_task.cancel->check() : Status(); }

}  // namespace sx
