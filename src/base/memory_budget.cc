// SPDX-License-Identifier: Apache-2.0
#include "base/memory_budget.h"

#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "base/format.h"

namespace sx {
namespace {

// A byte count from a small file of the kernel's; SIZE_MAX where it says "max" or cannot be read.
size_t limit_in(const std::string& path) {
  size_t limit = SIZE_MAX;
  if (FILE* file = std::fopen(path.c_str(), "re")) {
    char text[64];
    if (std::fgets(text, sizeof text, file) && *text >= '0' && *text <= '9')
      limit = std::strtoull(text, nullptr, 10);
    std::fclose(file);
  }
  return limit;
}

// This process's group in a hierarchy; a line of /proc/self/cgroup reads "4:memory:/group" or "0::/group".
std::string group_of(const char* controllers) {
  std::string group;
  if (FILE* file = std::fopen("/proc/self/cgroup", "re")) {
    char text[4096];
    while (std::fgets(text, sizeof text, file)) {
      const char* names = std::strchr(text, ':');
      const char* path = names ? std::strchr(names + 1, ':') : nullptr;
      if (path && std::string_view(names + 1, size_t(path - names - 1)) == controllers)
        group.assign(path + 1, std::strcspn(path + 1, "\n"));
    }
    std::fclose(file);
  }
  return group;
}

// The least of a group's limit and those of the groups above it.
size_t limit_above(const std::string& root, std::string group, const char* name) {
  size_t least = SIZE_MAX;
  for (;;) {
    least = std::min(least, limit_in(root + group + "/" + name));
    if (group.empty()) return least;
    const size_t slash = group.rfind('/');
    group.resize(slash == std::string::npos ? 0 : slash);
  }
}

}  // namespace

bool MemoryBudget::fits(size_t bytes, size_t limit) {
  const size_t before = used_.fetch_add(bytes, std::memory_order_relaxed);
  if (before <= limit && bytes <= limit - before) return true;
  used_.fetch_sub(bytes, std::memory_order_relaxed);
  return false;
}

bool MemoryBudget::take(size_t bytes, size_t limit) {
  limit = std::min(limit, limit_);
  if (fits(bytes, limit)) return true;
  if (bytes > limit) return false;
  {
    const std::lock_guard lock(mutex_);
    for (MemoryKeeper* keeper : keepers_) keeper->release_kept();
  }
  return fits(bytes, limit);
}

void MemoryBudget::join(MemoryKeeper* keeper) {
  const std::lock_guard lock(mutex_);
  keepers_.push_back(keeper);
}

void MemoryBudget::leave(MemoryKeeper* keeper) {
  const std::lock_guard lock(mutex_);
  std::erase(keepers_, keeper);
}

size_t machine_memory() {
  static const size_t memory = [] {
    const long pages = ::sysconf(_SC_PHYS_PAGES), page = ::sysconf(_SC_PAGESIZE);
    const size_t physical = pages > 0 && page > 0 ? size_t(pages) * size_t(page) : size_t(1) << 40;
    const size_t unified = limit_above("/sys/fs/cgroup", group_of(""), "memory.max");
    const size_t older = limit_above("/sys/fs/cgroup/memory", group_of("memory"), "memory.limit_in_bytes");
    return std::min({physical, unified, older});
  }();
  return memory;
}

std::string bytes_text(size_t bytes) {
  static constexpr const char* kUnits[] = {"kB", "MB", "GB", "TB", "PB", "EB"};
  if (bytes < 1000) return format("{} bytes", bytes);
  double value = double(bytes);
  size_t unit = 0;
  for (value /= 1000; value >= 999.5 && unit + 1 < std::size(kUnits); ++unit) value /= 1000;
  return value < 9.95 ? format("{:.1f} {}", value, kUnits[unit]) : format("{:.0f} {}", value, kUnits[unit]);
}

Result<size_t> parse_memory(std::string_view text) {
  double value = -1;
  const char* end = std::from_chars(text.data(), text.data() + text.size(), value).ptr;
  std::string_view unit = text.substr(size_t(end - text.data()));
  while (unit.starts_with(' ')) unit.remove_prefix(1);
  static constexpr std::string_view kLetters = "kMGTPE";
  const size_t power = unit.empty() ? std::string_view::npos : kLetters.find(unit[0] == 'K' ? 'k' : unit[0]);
  if (unit == "%") {
    value *= double(machine_memory()) / 100;
  } else if (power != std::string_view::npos && (unit.size() == 1 || unit.substr(1) == "B")) {
    value *= std::pow(1000.0, double(power + 1));
  } else if (!unit.empty() && unit != "B") {
    value = -1;
  }
  // Not `value < 1`: nothing that is not a number passes.
  if (!(value >= 1) || value > 0x1p62) {
    return error(Code::invalid_argument, "'{}' is no amount of memory; expected as in 500M, 2G or 80%", text);
  }
  return size_t(value);
}

}  // namespace sx
