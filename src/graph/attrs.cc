// SPDX-License-Identifier: Apache-2.0
// Lookup, defaults and comparison of attributes.
#include "graph/attrs.h"

#include <algorithm>
#include <atomic>
#include <cstring>

namespace sx {

std::string_view attr_kind_name(AttrKind kind) {
  switch (kind) {
    case AttrKind::none: return "nothing";
    case AttrKind::integer: return "an integer";
    case AttrKind::floating: return "a float";
    case AttrKind::text: return "a string";
    case AttrKind::integers: return "a list of integers";
    case AttrKind::floatings: return "a list of floats";
    case AttrKind::texts: return "a list of strings";
    case AttrKind::tensor: return "a tensor";
    case AttrKind::tensors: return "a list of tensors";
    case AttrKind::graph: return "a graph";
    case AttrKind::graphs: return "a list of graphs";
    case AttrKind::type: return "a type";
    case AttrKind::types: return "a list of types";
    case AttrKind::sparse: return "a sparse tensor";
    case AttrKind::sparses: return "a list of sparse tensors";
  }
  return "?";
}

const std::vector<Attr>& Attrs::list() const {
  static const std::vector<Attr> none;
  return list_ ? *list_ : none;
}

std::vector<Attr>& Attrs::own() {
  if (!list_) {
    list_ = std::make_shared<std::vector<Attr>>();
  } else if (list_.use_count() > 1) {
    list_ = std::make_shared<std::vector<Attr>>(*list_);
  } else {
    std::atomic_thread_fence(std::memory_order_acquire);  // the other copy may have gone on another thread
  }
  return *list_;
}

const AttrValue* Attrs::find(std::string_view name) const {
  for (const Attr& a : list()) {
    if (a.name == name) return &a.value;
  }
  return nullptr;
}

int64_t Attrs::integer(std::string_view name, int64_t otherwise) const {
  const auto* v = get<int64_t>(name);
  return v ? *v : otherwise;
}

float Attrs::floating(std::string_view name, float otherwise) const {
  const auto* v = get<float>(name);
  return v ? *v : otherwise;
}

std::string Attrs::text(std::string_view name, std::string_view otherwise) const {
  const auto* v = get<std::string>(name);
  return v ? *v : std::string(otherwise);
}

std::vector<int64_t> Attrs::integers(std::string_view name, std::vector<int64_t> otherwise) const {
  const auto* v = get<std::vector<int64_t>>(name);
  return v ? *v : std::move(otherwise);
}

void Attrs::set(std::string_view name, AttrValue value) {
  std::vector<Attr>& all = own();
  for (Attr& a : all) {
    if (a.name == name) {
      a.value = std::move(value);
      return;
    }
  }
  all.push_back({std::string(name), std::move(value)});
}

void Attrs::erase(std::string_view name) {
  if (has(name)) std::erase_if(own(), [&](const Attr& a) { return a.name == name; });
}

namespace {

bool same(const Tensor& a, const Tensor& b) {
  if (a.type() != b.type() || a.dims() != b.dims()) return false;
  if (a.type() == DType::string) return std::ranges::equal(a.strings(), b.strings());
  return a.data() == b.data() || a.bytes() == 0 || std::memcmp(a.data(), b.data(), a.bytes()) == 0;
}

bool same(const std::shared_ptr<const SparseTensor>& a, const std::shared_ptr<const SparseTensor>& b) {
  if (!a || !b) return a == b;
  return a->dims == b->dims && same(a->values, b->values) && same(a->indices, b->indices);
}

// Bit for bit, so that a NaN equals itself and -0 is not 0.
bool same(float a, float b) { return std::memcmp(&a, &b, sizeof a) == 0; }

template <class T>
bool same(const std::vector<T>& a, const std::vector<T>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](const T& x, const T& y) {
    if constexpr (requires { same(x, y); })
      return same(x, y);
    else
      return x == y;
  });
}

}  // namespace

bool equal(const AttrValue& a, const AttrValue& b) {
  if (a.index() != b.index()) return false;
  return std::visit(
      [&]<class T>(const T& x) {
        const T& y = std::get<T>(b);
        if constexpr (requires { same(x, y); })
          return same(x, y);
        else
          return x == y;
      },
      a);
}

}  // namespace sx
