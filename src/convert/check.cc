// SPDX-License-Identifier: Apache-2.0
#include "convert/check.h"

#include <algorithm>

#include "base/format.h"
#include "convert/types.h"

namespace sx::convert {
namespace {

// The parameter that argument `i` belongs to; null if there are too many arguments.
const Param* param_at(const std::vector<Param>& params, size_t i) {
  if (i < params.size()) return &params[i];
  if (!params.empty() && (params.back().flags & kVariadic)) return &params.back();
  return nullptr;
}

bool allows(const TypeSet& set, const Type& type) {
  auto tensor_in = [](const Type* t, const DTypeSet& elems) {
    return t && (!t->known() || (t->is_tensor() && (t->elem == DType::undefined || elems.has(t->elem))));
  };
  switch (type.kind) {
    case Value::Kind::none: return true;
    case Value::Kind::tensor: return type.elem == DType::undefined || set.tensor.has(type.elem);
    case Value::Kind::sequence:
      if (tensor_in(type.inner.get(), set.sequence)) return true;
      return type.inner && type.inner->kind == Value::Kind::map &&
             std::any_of(set.maps.begin(), set.maps.end(), [&](const TypeSet::MapType& m) {
               return m.in_sequence && m.key == type.inner->key && type.inner->inner &&
                      type.inner->inner->elem == m.value;
             });
    case Value::Kind::optional:
      if (tensor_in(type.inner.get(), set.optional)) return true;
      return type.inner && type.inner->kind == Value::Kind::sequence &&
             tensor_in(type.inner->inner.get(), set.optional_sequence);
    case Value::Kind::map:
      return std::any_of(set.maps.begin(), set.maps.end(), [&](const TypeSet::MapType& m) {
        return !m.in_sequence && m.key == type.key && type.inner && type.inner->elem == m.value;
      });
    case Value::Kind::sparse: return false;
  }
  return false;
}

std::string allowed_text(const TypeSet& set) {
  std::string text;
  size_t kinds = 0;
  for (int t = 1; t < kDTypeCount; ++t) {
    if (!set.tensor.has(DType(t))) continue;
    text += (text.empty() ? "" : ", ") + std::string(dtype_name(DType(t)));
    ++kinds;
  }
  if (!set.sequence.empty()) text += text.empty() ? "a sequence" : ", or a sequence";
  if (!set.optional.empty() || !set.optional_sequence.empty())
    text += text.empty() ? "an optional" : ", or an optional";
  if (!set.maps.empty()) text += text.empty() ? "a map" : ", or a map";
  return kinds > 1 ? "one of " + text : text;
}

// Element types compared; an unknown part fits everything.
bool same_type(const Type& a, const Type& b) {
  if (!a.known() || !b.known()) return true;
  if (a.kind != b.kind || a.key != b.key) return false;
  if (a.elem != b.elem && a.elem != DType::undefined && b.elem != DType::undefined) return false;
  return !a.inner || !b.inner || same_type(*a.inner, *b.inner);
}

class Checker {
 public:
  Checker(const OpVersion& version, const NodeFacts& node) : version_(version), node_(node) {}

  std::vector<std::string> run() {
    inputs();
    outputs();
    attributes();
    for (size_t i = 0; i < node_.inputs.size(); ++i) {
      const Param* p = param_at(version_.in, i);
      if (p && node_.inputs[i] && node_.inputs[i]->known()) type(*p, i, *node_.inputs[i]);
    }
    return std::move(found_);
  }

 private:
  template <class... Args>
  void say(fmt::format_string<Args...> text, Args&&... args) {
    found_.push_back(fmt::vformat(text, fmt::make_format_args(args...)));
  }

  void inputs() {
    const auto& params = version_.in;
    const bool open = !params.empty() && (params.back().flags & kVariadic);
    if (!open && node_.inputs.size() > params.size()) {
      say("takes at most {} inputs, it has {}", params.size(), node_.inputs.size());
    }
    for (size_t i = 0; i < params.size(); ++i) {
      const Param& p = params[i];
      const bool given = i < node_.inputs.size() && node_.inputs[i];
      if (p.flags & kVariadic) {
        const size_t many = node_.inputs.size() > i ? node_.inputs.size() - i : 0;
        if (int(many) < p.least) say("needs at least {} inputs '{}', it has {}", p.least, p.name, many);
        for (size_t k = i; k < node_.inputs.size(); ++k) {
          if (!node_.inputs[k]) say("input {} '{}' is missing", k, p.name);
        }
      } else if (!given && !(p.flags & kOptional)) {
        say("input {} '{}' is missing", i, p.name);
      }
    }
  }

  void outputs() {
    const auto& params = version_.out;
    const bool open = !params.empty() && (params.back().flags & kVariadic);
    if (!open && node_.outputs.size() > params.size()) {
      say("makes at most {} outputs, {} are asked for", params.size(), node_.outputs.size());
    }
    if (const size_t least = required_outputs(version_); node_.outputs.size() < least) {
      say("makes at least {} outputs, {} are asked for", least, node_.outputs.size());
    }
  }

  void attributes() {
    for (const Attr& a : node_.attrs.list()) {
      auto def = std::find_if(version_.attrs.begin(), version_.attrs.end(),
                              [&](auto& d) { return d.name == a.name; });
      if (def == version_.attrs.end()) {
        say("attribute '{}' does not exist (known: {})", a.name, known_attributes());
      } else if (def->kind != AttrKind::none && def->kind != kind_of(a.value)) {
        say("attribute '{}' must be {}, it is {}", a.name, attr_kind_name(def->kind),
            attr_kind_name(kind_of(a.value)));
      }
    }
    for (const AttrDef& d : version_.attrs) {
      if (d.need == AttrDef::Need::required && !node_.attrs.has(d.name))
        say("attribute '{}' is missing", d.name);
    }
  }

  std::string known_attributes() const {
    std::string text;
    for (const AttrDef& d : version_.attrs) text += (text.empty() ? "" : ", ") + std::string(d.name);
    return text.empty() ? "none" : text;
  }

  void type(const Param& p, size_t i, const Type& have) {
    auto var =
        std::find_if(version_.types.begin(), version_.types.end(), [&](auto& v) { return v.name == p.type; });
    if (var == version_.types.end()) {
      fixed(p, i, have);
      return;
    }
    if (!allows(var->types, have)) {
      say("input {} '{}' must be {}, it is {}", i, p.name, allowed_text(var->types), to_string(have));
      return;
    }
    if (p.flags & kHeterogeneous) return;
    auto bound = std::find_if(bound_.begin(), bound_.end(), [&](auto& b) { return b.var == p.type; });
    if (bound == bound_.end()) {
      bound_.push_back({p.type, &p, i, &have});
    } else if (!same_type(*bound->type, have)) {
      say("inputs {} '{}' and {} '{}' must have the same type, they are {} and {}", bound->input,
          bound->param->name, i, p.name, to_string(*bound->type), to_string(have));
    }
  }

  void fixed(const Param& p, size_t i, const Type& have) {
    std::string_view want = p.type;
    DType elem = DType::undefined;
    if (want.starts_with("tensor(") && parse_dtype(want.substr(7, want.size() - 8), elem)) {
      if (!have.is_tensor() || (have.elem != elem && have.elem != DType::undefined)) {
        say("input {} '{}' must be a {} tensor, it is {}", i, p.name, dtype_name(elem), to_string(have));
      }
      return;
    }
    std::string spelled(want);
    std::erase(spelled, ' ');
    const std::string is = standard_name(have);
    if (is.find('?') == std::string::npos && is != spelled) {
      say("input {} '{}' must be {}, it is {}", i, p.name, want, to_string(have));
    }
  }

  struct Bound {
    std::string_view var;
    const Param* param;
    size_t input;
    const Type* type;
  };
  const OpVersion& version_;
  const NodeFacts& node_;
  std::vector<Bound> bound_;
  std::vector<std::string> found_;
};

}  // namespace

size_t required_outputs(const OpVersion& version) {
  size_t n = version.out.size();
  while (n > 0 && (version.out[n - 1].flags & (kOptional | kVariadic))) --n;
  return n;
}

std::vector<std::string> check_node(const OpVersion& version, const NodeFacts& node) {
  return Checker(version, node).run();
}

std::vector<std::string> check_results(const OpVersion& version, std::span<const Type* const> results) {
  std::vector<std::string> found;
  for (size_t i = 0; i < results.size(); ++i) {
    const Param* p = param_at(version.out, i);
    if (!p || !results[i]) continue;
    auto var =
        std::find_if(version.types.begin(), version.types.end(), [&](auto& v) { return v.name == p->type; });
    if (var == version.types.end() || allows(var->types, *results[i])) continue;
    found.push_back(format("output {} '{}' must be {}, it would be {}", i, p->name, allowed_text(var->types),
                           to_string(*results[i])));
  }
  return found;
}

}  // namespace sx::convert
