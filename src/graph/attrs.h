// SPDX-License-Identifier: Apache-2.0
// Attrs: the named attributes of a node.
#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "graph/type.h"
#include "tensor/tensor.h"

namespace sx {

using BodyId = uint32_t;
inline constexpr BodyId kNoBody = ~BodyId(0);

struct BodyRef {  // an attribute that is a graph
  BodyId id = kNoBody;
  bool operator==(const BodyRef&) const = default;
};

using AttrValue =
    std::variant<std::monostate, int64_t, float, std::string, std::vector<int64_t>, std::vector<float>,
                 std::vector<std::string>, Tensor, std::vector<Tensor>, BodyRef, std::vector<BodyRef>, Type,
                 std::vector<Type>, std::shared_ptr<const SparseTensor>,
                 std::vector<std::shared_ptr<const SparseTensor>>>;
// In the order of AttrValue's alternatives.
enum class AttrKind : uint8_t {
  none,
  integer,
  floating,
  text,
  integers,
  floatings,
  texts,
  tensor,
  tensors,
  graph,
  graphs,
  type,
  types,
  sparse,
  sparses,
};
std::string_view attr_kind_name(AttrKind kind);  // "an integer", "a list of strings"
inline AttrKind kind_of(const AttrValue& v) { return AttrKind(v.index()); }

struct Attr {
  std::string name;
  AttrValue value;
};

// Copies share what they hold until one of them changes it.
class Attrs {
 public:
  Attrs() = default;
  Attrs(std::initializer_list<Attr> list) : list_(std::make_shared<std::vector<Attr>>(list)) {}

  const AttrValue* find(std::string_view name) const;
  bool has(std::string_view name) const { return find(name) != nullptr; }
  template <class T>
  const T* get(std::string_view name) const {
    const AttrValue* v = find(name);
    return v ? std::get_if<T>(v) : nullptr;
  }
  int64_t integer(std::string_view name, int64_t otherwise) const;
  float floating(std::string_view name, float otherwise) const;
  std::string text(std::string_view name, std::string_view otherwise) const;
  std::vector<int64_t> integers(std::string_view name, std::vector<int64_t> otherwise = {}) const;
  void set(std::string_view name, AttrValue value);
  void erase(std::string_view name);
  const std::vector<Attr>& list() const;
  bool empty() const { return list().empty(); }

 private:
  std::vector<Attr>& own();
  std::shared_ptr<std::vector<Attr>> list_;  // null: none
};
bool equal(const AttrValue& a, const AttrValue& b);  // tensors by content; graphs by id

}  // namespace sx
