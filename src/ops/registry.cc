// SPDX-License-Identifier: Apache-2.0
#include "ops/registry.h"

#include <algorithm>
#include <vector>

#define SX_ITEM(item)       \
  namespace sx::ops::item { \
  extern const Op op;       \
  }
#include "operator_list.inc"
#undef SX_ITEM

namespace sx {
namespace {

std::string_view plain(std::string_view domain) { return domain == "ai.onnx" ? std::string_view() : domain; }

bool before(const Op* op, std::string_view domain, std::string_view name) {
  return op->domain != domain ? op->domain < domain : op->name < name;
}

const std::vector<const Op*>& table() {
  static const std::vector<const Op*> ops = [] {
    std::vector<const Op*> list = {
#define SX_ITEM(item) &sx::ops::item::op,
#include "operator_list.inc"
#undef SX_ITEM
    };
    std::sort(list.begin(), list.end(),
              [](const Op* a, const Op* b) { return before(a, b->domain, b->name); });
    return list;
  }();
  return ops;
}

}  // namespace

std::span<const Op* const> all_ops() { return table(); }

const Op* find_op(std::string_view domain, std::string_view name) {
  domain = plain(domain);
  const auto& ops = table();
  auto it = std::lower_bound(ops.begin(), ops.end(), name,
                             [&](const Op* op, std::string_view n) { return before(op, domain, n); });
  return it != ops.end() && (*it)->domain == domain && (*it)->name == name ? *it : nullptr;
}

}  // namespace sx
