// SPDX-License-Identifier: Apache-2.0
// What this processor can do, capped by SARDONYX_ISA.
#pragma once
#include <cstddef>
#include <string_view>

namespace sx {

enum class Isa : int { baseline = 0, avx2 = 1, avx512 = 2 };

Isa detected_isa();            // the best level that the processor and the system support
Isa active_isa();              // detected_isa() capped by SARDONYX_ISA; fixed at first use unless set
void set_active_isa(Isa isa);  // for tests and tools: at most detected_isa()
std::string_view isa_name(Isa isa);
bool parse_isa(std::string_view name, Isa& isa);

struct CacheSizes {
  size_t l1d, l2, l3;
};
CacheSizes cache_sizes();

unsigned usable_cpus();  // by affinity and by cgroup quota
std::string_view cpu_model_name();

}  // namespace sx
