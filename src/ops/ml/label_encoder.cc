// SPDX-License-Identifier: Apache-2.0
// LabelEncoder: keys to the values beside them; what is no key becomes the default.
#include "graph/lift.h"
#include "ops/ml/columns.h"

namespace sx::ops::label_encoder {

// The list NAME_strings, NAME_int64s or NAME_floats, or NAME_tensor, as a tensor.
static Tensor list_of(const Attrs& attrs, const std::string& name) {
  if (const auto* t = attrs.get<std::vector<std::string>>(name + "_strings")) {
    return Tensor::of_strings({int64_t(t->size())}, *t);
  }
  if (const auto* v = attrs.get<std::vector<int64_t>>(name + "_int64s")) return Tensor::vector_i64(*v);
  if (const auto* v = attrs.get<std::vector<float>>(name + "_floats")) {
    return Tensor::of<float>(DType::f32, {int64_t(v->size())}, *v);
  }
  const Tensor* t = attrs.get<Tensor>(name + "_tensor");
  return t ? *t : Tensor();
}

// Keys, and values, are of one kind.
static Status require_one_list(Infer& i, const std::string& name) {
  int given = 0;
  for (const char* kind : {"_strings", "_int64s", "_floats", "_tensor"}) given += i.attrs().has(name + kind);
  if (given == 1) return {};
  return i.fail("needs one of {0}_strings, {0}_int64s, {0}_floats and {0}_tensor, has {1}", name, given);
}

static Status infer(Infer& i) {
  SX_TRY(require_one_list(i, "keys"));
  SX_TRY(require_one_list(i, "values"));
  const Tensor values = list_of(i.attrs(), "values");
  const Tensor* otherwise = i.attrs().get<Tensor>("default_tensor");
  if (otherwise && (otherwise->count() != 1 || otherwise->type() != values.type())) {
    return i.fail("default_tensor is {}{}, one {} expected", dtype_name(otherwise->type()),
                  to_string(otherwise->dims()), dtype_name(values.type()));
  }
  i.set_tensor(0, values.type(), i.in(0).shape);
  return {};
}

template <class T>
static void put(Eval& e, const Workspace<int64_t>& places, const Tensor& values, T otherwise) {
  if (const Tensor* t = e.attrs().get<Tensor>("default_tensor")) otherwise = number_at<T>(*t);
  const Reader<T> list(values);
  Writer<T> y(e.out(0));
  for (size_t k : turns(places.size())) y[k] = places[k] < 0 ? otherwise : list[size_t(places[k])];
}

static Status eval(Eval& e) {
  const Tensor keys = list_of(e.attrs(), "keys"), values = list_of(e.attrs(), "values");
  if (keys.count() != values.count()) return e.fail("{} keys for {} values", keys.count(), values.count());
  SX_ASSIGN(const Workspace<int64_t> places, KeyTable(keys).find_all(e.in(0)));
  if (values.type() == DType::string) {
    std::string otherwise = e.text("default_string");
    if (const Tensor* t = e.attrs().get<Tensor>("default_tensor")) otherwise = t->strings()[0];
    const auto y = e.out(0).mutable_strings();
    for (size_t k : turns(places.size())) {
      y[k] = places[k] < 0 ? otherwise : values.strings()[size_t(places[k])];
    }
  } else if (dtype_is_float(values.type())) {
    put<double>(e, places, values, e.floating("default_float"));
  } else {
    put<int64_t>(e, places, values, e.integer("default_int64"));
  }
  return {};
}

// Version 1 had one list of strings: they became their places, or places became strings.
static Status lift_1(Lift& l) {
  const auto* classes = l.attrs().get<std::vector<std::string>>("classes_strings");
  const std::vector<std::string> texts = classes ? *classes : std::vector<std::string>();
  std::vector<int64_t> places(texts.size());
  for (size_t k = 0; k < places.size(); ++k) places[k] = int64_t(k);
  const Type& x = l.type(0);
  const Type& y = l.graph().value(l.graph().node(l.id()).outputs[0]).type;
  const bool to_places = x.known() ? x.elem == DType::string : y.elem == DType::i64;
  if (!x.known() && !y.known()) return l.fail("the type of its input is not known");
  l.attrs().erase("classes_strings");
  l.attrs().set(to_places ? "keys_strings" : "values_strings", texts);
  l.attrs().set(to_places ? "values_int64s" : "keys_int64s", places);
  return {};
}

static const AttrDef kFloat = attr_float("default_float", -0.0f), kInt = attr_int("default_int64", -1),
                     kText = attr_text("default_string", "_Unused");
static std::vector<AttrDef> attrs_from(int version) {
  if (version == 1) return {optional_attr("classes_strings", AttrKind::texts), kInt, kText};
  std::vector<AttrDef> list = {kFloat,
                               kInt,
                               kText,
                               optional_attr("keys_floats", AttrKind::floatings),
                               optional_attr("keys_int64s", AttrKind::integers),
                               optional_attr("keys_strings", AttrKind::texts),
                               optional_attr("values_floats", AttrKind::floatings),
                               optional_attr("values_int64s", AttrKind::integers),
                               optional_attr("values_strings", AttrKind::texts)};
  if (version == 4) {
    for (std::string_view name : {"default_tensor", "keys_tensor", "values_tensor"}) {
      list.push_back(optional_attr(name, AttrKind::tensor));
    }
  }
  return list;
}
constexpr DTypeSet kTypes4 = kMlNumbers | DTypeSet::of(DType::string, DType::i16);
constexpr DTypeSet kTypes2 = kLabels | kF32;

extern const Op op = {
    .name = "LabelEncoder",
    .domain = kMl,
    .in = {{"X", "T1"}},
    .out = {{"Y", "T2"}},
    .types = {{"T1", kTypes4}, {"T2", kTypes4}},
    .attrs = attrs_from(4),
    .infer = infer,
    .eval = eval,
    .history =
        {{.since = 4},
         {.since = 2, .types = {{"T1", kTypes2}, {"T2", kTypes2}}, .attrs = attrs_from(2)},
         {.since = 1, .types = {{"T1", kLabels}, {"T2", kLabels}}, .attrs = attrs_from(1), .lift = lift_1}},
};

}  // namespace sx::ops::label_encoder
