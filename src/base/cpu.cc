// SPDX-License-Identifier: Apache-2.0
// Asks the processor, the C library and the control groups what this process may use.
#include "base/cpu.h"

#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

namespace sx {

namespace {

constexpr std::string_view kNames[] = {"baseline", "avx2", "avx512"};

// The first line of a small file of the kernel's, without its newline; empty when it cannot be read.
std::string first_line(const std::string& path) {
  std::string line;
  if (FILE* file = std::fopen(path.c_str(), "re")) {
    char text[512];
    if (std::fgets(text, sizeof text, file)) line.assign(text, std::strcspn(text, "\n"));
    std::fclose(file);
  }
  return line;
}

// Whole processors that `quota` of `period` microseconds allows, at least 1; 0 means no limit.
unsigned quota_cpus(double quota, double period) {
  if (quota <= 0 || period <= 0) return 0;
  return std::max(1u, static_cast<unsigned>((quota + period - 1) / period));
}

unsigned tighter(unsigned a, unsigned b) { return a == 0 ? b : b == 0 ? a : std::min(a, b); }

// This process's group in the unified hierarchy and every group above it, as seen from here.
unsigned cgroup2_limit() {
  std::string group;
  if (FILE* file = std::fopen("/proc/self/cgroup", "re")) {
    char text[1024];
    while (std::fgets(text, sizeof text, file))
      if (std::strncmp(text, "0::", 3) == 0) group.assign(text + 3, std::strcspn(text + 3, "\n"));
    std::fclose(file);
  }
  unsigned limit = 0;
  for (;;) {
    double quota = 0, period = 0;
    const std::string line = first_line("/sys/fs/cgroup" + group + "/cpu.max");
    if (std::sscanf(line.c_str(), "%lf %lf", &quota, &period) == 2)
      limit = tighter(limit, quota_cpus(quota, period));
    if (group.empty()) return limit;
    const size_t slash = group.rfind('/');
    group.resize(slash == std::string::npos ? 0 : slash);
  }
}

unsigned cgroup1_limit() {
  const std::string folder = "/sys/fs/cgroup/cpu/";
  return quota_cpus(std::atof(first_line(folder + "cpu.cfs_quota_us").c_str()),
                    std::atof(first_line(folder + "cpu.cfs_period_us").c_str()));
}

Isa isa_from_environment() {
  Isa isa = detected_isa();
  if (const char* name = std::getenv("SARDONYX_ISA")) {
    Isa cap;
    if (parse_isa(name, cap)) isa = std::min(isa, cap);
  }
  return isa;
}

std::atomic<int> active{-1};

// Linux describes each cache of the first processor in a folder of its own; sizes read "32K".
size_t cache_size(const char* level, size_t otherwise) {
  for (int i = 0; i < 8; ++i) {
    const std::string folder = "/sys/devices/system/cpu/cpu0/cache/index" + std::to_string(i) + "/";
    if (first_line(folder + "level") != level || first_line(folder + "type") == "Instruction") continue;
    const size_t kilobytes = static_cast<size_t>(std::atol(first_line(folder + "size").c_str()));
    if (kilobytes > 0) return kilobytes << 10;
  }
  return otherwise;
}

}  // namespace

Isa detected_isa() {
#if defined(__x86_64__)
  // These builtins also ask whether the system saves the wide registers.
  static const Isa isa = [] {
    __builtin_cpu_init();
    if (!__builtin_cpu_supports("avx2") || !__builtin_cpu_supports("fma") || !__builtin_cpu_supports("bmi") ||
        !__builtin_cpu_supports("bmi2"))
      return Isa::baseline;
    if (!__builtin_cpu_supports("avx512f") || !__builtin_cpu_supports("avx512bw") ||
        !__builtin_cpu_supports("avx512dq") || !__builtin_cpu_supports("avx512vl") ||
        !__builtin_cpu_supports("avx512cd"))
      return Isa::avx2;
    return Isa::avx512;
  }();
  return isa;
#else
  return Isa::baseline;
#endif
}

Isa active_isa() {
  int isa = active.load(std::memory_order_relaxed);
  if (isa < 0) {
    const int fresh = static_cast<int>(isa_from_environment());
    if (active.compare_exchange_strong(isa, fresh)) isa = fresh;
  }
  return static_cast<Isa>(isa);
}

void set_active_isa(Isa isa) { active.store(static_cast<int>(std::min(isa, detected_isa()))); }

std::string_view isa_name(Isa isa) { return kNames[static_cast<int>(isa)]; }

bool parse_isa(std::string_view name, Isa& isa) {
  for (int i = 0; i < 3; ++i) {
    if (name != kNames[i]) continue;
    isa = static_cast<Isa>(i);
    return true;
  }
  return false;
}

CacheSizes cache_sizes() {
  static const CacheSizes sizes = {cache_size("1", 32 << 10), cache_size("2", 1 << 20),
                                   cache_size("3", 8 << 20)};
  return sizes;
}

unsigned usable_cpus() {
  unsigned cpus = 0;
  cpu_set_t set;
  if (sched_getaffinity(0, sizeof set, &set) == 0) cpus = static_cast<unsigned>(CPU_COUNT(&set));
  if (cpus == 0) cpus = static_cast<unsigned>(std::max(1L, sysconf(_SC_NPROCESSORS_ONLN)));
  return tighter(cpus, tighter(cgroup2_limit(), cgroup1_limit()));
}

std::string_view cpu_model_name() {
  static const std::string name = [] {
    std::string model = "unknown processor";
    if (FILE* file = std::fopen("/proc/cpuinfo", "re")) {
      char text[512];
      while (std::fgets(text, sizeof text, file)) {
        if (std::strncmp(text, "model name", 10) != 0) continue;
        const char* value = std::strchr(text, ':');
        if (value && value[1] == ' ') model.assign(value + 2, std::strcspn(value + 2, "\n"));
        break;
      }
      std::fclose(file);
    }
    return model;
  }();
  return name;
}

}  // namespace sx
