// SPDX-License-Identifier: Apache-2.0
// Finds what the text of a model does not say, field by field, and writes it as notes.
#include <cmath>
#include <cstring>
#include <type_traits>
#include <unordered_map>

#include "base/format.h"
#include "onnx/display.h"
#include "onnx/known.h"
#include "onnx/schema.h"
#include "onnx/tensor_data.h"
#include "onnx/text.h"
#include "onnx/text_notes.h"
#include "onnx/text_tensor.h"
#include "onnx/text_types.h"
#include "onnx/wire.h"

namespace sx::onnx {
namespace {

struct Note {
  std::string path, value;
};

template <class T>
void append_exact(std::string& to, T value) {
  if constexpr (std::is_floating_point_v<T>) {
    if (std::isnan(value)) {
      using Bits = std::conditional_t<sizeof(T) == 4, uint32_t, uint64_t>;
      Bits bits;
      std::memcpy(&bits, &value, sizeof bits);
      to += format("bits({:x})", bits);
      return;
    }
  }
  append_number(to, value);
}

std::string note_text(std::string_view text) {
  std::string out = "\"";
  for (const char c : escaped(text)) {
    if (c == '"') out += '\\';
    out += c;
  }
  return out + "\"";
}

std::string note_hex(std::span<const uint8_t> bytes) {
  static constexpr char kHex[] = "0123456789abcdef";
  std::string out = "x\"";
  for (uint8_t b : bytes) {
    out += kHex[b >> 4];
    out += kHex[b & 15];
  }
  return out + "\"";
}

template <class T>
std::string note_list(const std::vector<T>& values) {
  std::string out = "[";
  for (size_t i = 0; i < values.size(); ++i) {
    if (i > 0) out += ", ";
    append_exact(out, values[i]);
  }
  return out + "]";
}

template <class T>
bool same_numbers(const Numbers<T>& a, const Numbers<T>& b) {
  if (a.empty() && b.empty()) return true;
  const std::vector<T> x = a.values(), y = b.values();
  return x.size() == y.size() && (x.empty() || std::memcmp(x.data(), y.data(), x.size() * sizeof(T)) == 0);
}

// The addresses of the fields of a message, by number.
struct Addresses {
  const void* field[32] = {};
  template <class F, class... Rest>
  bool operator()(uint32_t n, const char*, const F& f, Rest...) {
    field[n] = &f;
    return false;
  }
};

class Differ {
 public:
  Differ(std::vector<Note>& notes, uint64_t largest) : notes_(notes), largest_(largest) {}

  template <class M>
  void message(const M& said, const M& meant, const std::string& path) {
    Addresses addresses;
    Schema<M>::fields(addresses, said);
    Schema<M>::fields(Fields<M>{*this, addresses, path}, meant);
    if constexpr (std::is_same_v<M, TensorProto>) payload(said, meant, path);
    unknown(meant, path);
  }

 private:
  template <class M>
  struct Fields {
    Differ& d;
    const Addresses& said;
    const std::string& path;
    std::string at(const char* name) const { return path.empty() ? name : path + "." + name; }

    template <class T>
    bool operator()(uint32_t n, const char* name, const Opt<T>& f) {
      const auto& was = *static_cast<const Opt<T>*>(said.field[n]);
      const bool same = was.present == f.present && std::memcmp(&was.value, &f.value, sizeof(T)) == 0;
      if (same) return false;
      std::string value = "absent";
      if (f.present) {
        value.clear();
        append_exact(value, f.value);
      }
      d.note(at(name), value);
      return false;
    }
    bool operator()(uint32_t n, const char* name, const Bytes& f) {
      if (std::is_same_v<M, TensorProto> && n == 9) return false;
      const auto& was = *static_cast<const Bytes*>(said.field[n]);
      if (was.present() == f.present() && was == f) return false;
      d.note(at(name), f.present() ? note_text(f) : "absent");
      return false;
    }
    template <class C>
    bool operator()(uint32_t n, const char* name, const Box<C>& f) {
      const auto& was = *static_cast<const Box<C>*>(said.field[n]);
      if (!f) {
        if (was) d.note(at(name), "absent");
        return false;
      }
      const size_t before = d.notes_.size();
      d.message(was ? *was : C(), *f, at(name));
      if (!was && d.notes_.size() == before) d.note(at(name), "{}");
      return false;
    }
    bool operator()(uint32_t n, const char* name, const std::vector<Bytes>& f) {
      if (std::is_same_v<M, TensorProto> && n == 6) return false;
      const auto& was = *static_cast<const std::vector<Bytes>*>(said.field[n]);
      if (was.size() > f.size()) d.note(at(name), format("first {}", f.size()));
      for (size_t i = 0; i < f.size(); ++i) {
        if (i < was.size() && was[i] == f[i]) continue;
        d.note(format("{}[{}]", at(name), i), note_text(f[i]));
      }
      return false;
    }
    template <class C>
    bool operator()(uint32_t n, const char* name, const std::vector<C>& f) {
      const auto& was = *static_cast<const std::vector<C>*>(said.field[n]);
      if (was.size() > f.size()) d.note(at(name), format("first {}", f.size()));
      for (size_t i = 0; i < f.size(); ++i) d.element(was, f[i], i, format("{}[{}]", at(name), i));
      return false;
    }
    template <class T, class... Rest>
    bool operator()(uint32_t n, const char* name, const Numbers<T>& f, Rest...) {
      if (sizeof...(Rest) > 0) return false;  // the payload of a tensor
      const auto& was = *static_cast<const Numbers<T>*>(said.field[n]);
      if (!same_numbers(was, f)) d.note(at(name), note_list(f.values()));
      return false;
    }
  };

  template <class C>
  void element(const std::vector<C>& was, const C& meant, size_t i, const std::string& path) {
    if constexpr (std::is_same_v<C, StringStringEntryProto>) {
      if (i >= was.size() && meant.key.present() && meant.value.present()) {
        note(path, note_text(meant.key) + ": " + note_text(meant.value));
        return unknown(meant, path);
      }
    }
    const size_t before = notes_.size();
    message(i < was.size() ? was[i] : C(), meant, path);
    if (i >= was.size() && notes_.size() == before) note(path, "{}");
  }

  template <class T>
  void typed(const Numbers<T>& f, PayloadForm form, const std::string& path) {
    if (f.empty()) return;
    const std::vector<T> values = f.values();
    if (form == PayloadForm::odd) return note(path, note_list(values));
    if constexpr (std::is_floating_point_v<T>) {
      std::vector<size_t> odd;
      for (size_t i = 0; i < values.size(); ++i) {
        if (std::isnan(values[i])) odd.push_back(i);
      }
      if (odd.size() > 16) return note(path, note_list(values));
      for (size_t i : odd) {
        std::string value;
        append_exact(value, values[i]);
        note(format("{}[{}]", path, i), value);
      }
    }
  }

  void payload(const TensorProto& said, const TensorProto& t, const std::string& path) {
    // A tensor in a place that the text does not show has its elements in the notes.
    const PayloadForm form = said.data_type.present ? payload_form(t) : PayloadForm::odd;
    const Result<TensorInfo> info = tensor_info(t);
    if (info.ok() && form != PayloadForm::odd && uint64_t(info->count) > largest_) return;
    const std::string raw = path + ".raw_data";
    if (form == PayloadForm::raw) return note(raw, "here");
    if (t.raw_data.present()) note(raw, note_hex(t.raw_data.bytes()));
    if (form != PayloadForm::typed && form != PayloadForm::odd) return;
    typed(t.float_data, form, path + ".float_data");
    typed(t.int32_data, form, path + ".int32_data");
    typed(t.int64_data, form, path + ".int64_data");
    typed(t.double_data, form, path + ".double_data");
    typed(t.uint64_data, form, path + ".uint64_data");
    for (size_t i = 0; i < t.string_data.size(); ++i) {
      if (form == PayloadForm::typed && is_plain_text(t.string_data[i])) continue;
      note(format("{}.string_data[{}]", path, i), note_text(t.string_data[i]));
    }
  }

  template <class M>
  void unknown(const M& m, const std::string& path) {
    const std::string records = unknown_records(m);
    if (records.empty()) return;
    note(path.empty() ? "unknown" : path + ".unknown",
         note_hex({reinterpret_cast<const uint8_t*>(records.data()), records.size()}));
  }

  void note(std::string path, std::string value) { notes_.push_back({std::move(path), std::move(value)}); }

  std::vector<Note>& notes_;
  uint64_t largest_;
};

// a[3].b = v, a[4].b = v … becomes a[3:5].b = v, for the index that has `after` indices behind it.
std::vector<Note> merge_ranges(std::vector<Note> notes, int after) {
  struct Run {
    size_t note, from, to;
  };
  std::unordered_map<std::string, Run> runs;
  std::vector<Note> out;
  std::vector<std::string> pattern_of;
  const auto bracket = [after](const std::string& path) {
    size_t at = std::string::npos;
    for (int i = 0; i <= after; ++i) {
      at = path.rfind('[', at == std::string::npos ? at : at - 1);
      if (at == std::string::npos || at == 0) return std::string::npos;
    }
    return at;
  };
  for (Note& n : notes) {
    // Raw data takes the place of the elements before it: no note may move to the other side of it.
    if (n.path.ends_with(".raw_data") && n.value != "here") runs.clear();
    const size_t open = bracket(n.path);
    const size_t close = open == std::string::npos ? open : n.path.find(']', open);
    if (open == std::string::npos || n.path.substr(open, close - open).find(':') != std::string::npos ||
        n.value.size() > 40) {
      out.push_back(std::move(n));
      continue;
    }
    const size_t index = std::stoull(n.path.substr(open + 1, close - open - 1));
    const std::string pattern = n.path.substr(0, open) + "*" + n.path.substr(close) + "=" + n.value;
    const auto it = runs.find(pattern);
    if (it != runs.end() && it->second.to == index) {
      Run& run = it->second;
      run.to = index + 1;
      out[run.note].path = n.path.substr(0, open) + format("[{}:{}", run.from, run.to) + n.path.substr(close);
      continue;
    }
    runs[pattern] = {out.size(), index, index + 1};
    out.push_back(std::move(n));
  }
  return out;
}

}  // namespace

void append_notes(const std::string& outline, const ModelProto& model, uint64_t largest, std::string& to) {
  const Result<std::shared_ptr<Model>> said = parse_text(outline);
  if (!said.ok()) return;
  std::vector<Note> notes;
  Differ(notes, largest).message<ModelProto>(**said, model, "");
  for (int after = 0; after < 3; ++after) notes = merge_ranges(std::move(notes), after);
  for (const Note& n : notes) to += format("#@ {} = {}\n", n.path, n.value);
}

}  // namespace sx::onnx
