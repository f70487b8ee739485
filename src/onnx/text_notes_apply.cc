// SPDX-License-Identifier: Apache-2.0
// Carries out the notes of ONNX text.
#include <cstring>
#include <map>
#include <type_traits>

#include "base/format.h"
#include "onnx/display.h"
#include "onnx/read.h"
#include "onnx/schema.h"
#include "onnx/text_notes.h"
#include "onnx/text_tensor.h"

namespace sx::onnx {
namespace {

struct Step {
  std::string_view name;
  bool indexed = false;
  uint64_t from = 0, to = 0;
};

struct NoteValue {
  enum class Kind { number, text, bytes, entry, list, message, absent, here, first };
  Kind kind = Kind::number;
  std::vector<std::string_view> numbers;
  std::string text, second;
};

// One note, its path and value.
class NoteReader {
 public:
  explicit NoteReader(std::string_view text) : text_(text) {}

  bool read(std::vector<Step>& steps, NoteValue& value) {
    do {
      if (!step(steps.emplace_back())) return false;
    } while (eat('.'));
    return eat('=') && read_value(value) && at_end();
  }

 private:
  void skip() {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\t' || text_[at_] == '\r')) ++at_;
  }
  bool at_end() {
    skip();
    return at_ == text_.size();
  }
  bool eat(char c) {
    skip();
    if (at_ >= text_.size() || text_[at_] != c) return false;
    ++at_;
    return true;
  }
  bool eat_word(std::string_view word) {
    skip();
    if (text_.substr(at_, word.size()) != word) return false;
    at_ += word.size();
    return true;
  }
  std::string_view take(const char* stop) {
    skip();
    const size_t end = std::min(text_.find_first_of(stop, at_), text_.size());
    const std::string_view word = text_.substr(at_, end - at_);
    at_ = end;
    return word;
  }
  bool step(Step& s) {
    s.name = take("[.= \t");
    if (!is_identifier(s.name)) return false;
    if (!eat('[')) return true;
    s.indexed = true;
    if (!parse_unsigned(take(":]"), s.from)) return false;
    s.to = s.from + 1;
    if (eat(':') && !parse_unsigned(take("]"), s.to)) return false;
    return eat(']') && s.from < s.to;
  }
  static int digit(char c) {
    return is_digit(c)            ? c - '0'
           : c >= 'a' && c <= 'f' ? c - 'a' + 10
           : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                  : -1;
  }
  bool hex_byte(std::string& to) {
    if (at_ + 1 >= text_.size()) return false;
    const int high = digit(text_[at_]), low = digit(text_[at_ + 1]);
    if (high < 0 || low < 0) return false;
    to += char(high * 16 + low);
    at_ += 2;
    return true;
  }
  bool quoted_text(std::string& to) {
    if (!eat('"')) return false;
    while (at_ < text_.size() && text_[at_] != '"') {
      if (text_[at_] != '\\') {
        to += text_[at_++];
        continue;
      }
      if (++at_ >= text_.size()) return false;
      const char c = text_[at_++];
      if (c == 'x') {
        if (!hex_byte(to)) return false;
      } else {
        to += c == 'n' ? '\n' : c == 't' ? '\t' : c == 'r' ? '\r' : c;
      }
    }
    return eat('"');
  }
  bool bytes(std::string& to) {
    while (at_ < text_.size() && text_[at_] != '"') {
      if (!hex_byte(to)) return false;
    }
    return eat('"');
  }
  bool list(NoteValue& v) {
    if (eat(']')) return true;
    do {
      v.numbers.push_back(take(",] \t"));
    } while (eat(','));
    return eat(']');
  }
  bool read_value(NoteValue& v) {
    using Kind = NoteValue::Kind;
    if (eat_word("x\"")) {
      v.kind = Kind::bytes;
      return bytes(v.text);
    }
    skip();
    if (at_ < text_.size() && text_[at_] == '"') {
      v.kind = Kind::text;
      if (!quoted_text(v.text)) return false;
      if (!eat(':')) return true;
      v.kind = Kind::entry;
      return quoted_text(v.second);
    }
    if (eat('[')) {
      v.kind = Kind::list;
      return list(v);
    }
    if (eat('{')) {
      v.kind = Kind::message;
      return eat('}');
    }
    if (eat_word("absent")) {
      v.kind = Kind::absent;
      return true;
    }
    if (eat_word("here")) {
      v.kind = Kind::here;
      return true;
    }
    v.kind = eat_word("first ") ? Kind::first : Kind::number;
    v.numbers.push_back(take(" \t\r"));
    return !v.numbers.back().empty();
  }

  std::string_view text_;
  size_t at_ = 0;
};

template <class T>
bool number_of(std::string_view s, T& to) {
  if constexpr (std::is_floating_point_v<T>) {
    if (!s.starts_with("bits(")) return parse_real(s, to);
    using Bits = std::conditional_t<sizeof(T) == 4, uint32_t, uint64_t>;
    uint64_t bits = 0;
    s = s.substr(5);
    if (s.empty() || s.back() != ')' || s.size() > 17) return false;
    for (char c : s.substr(0, s.size() - 1)) {
      const int d = is_digit(c) ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
      if (d < 0) return false;
      bits = bits << 4 | uint64_t(d);
    }
    const auto narrow = Bits(bits);
    std::memcpy(&to, &narrow, sizeof to);
    return narrow == bits;
  } else if constexpr (std::is_same_v<T, uint64_t>) {
    return parse_unsigned(s, to);
  } else {
    int64_t wide = 0;
    if (!parse_integer(s, wide)) return false;
    to = T(wide);
    return int64_t(to) == wide;
  }
}

void clear_typed(TensorProto& t) {
  t.float_data = {};
  t.int32_data = {};
  t.int64_data = {};
  t.double_data = {};
  t.uint64_data = {};
}

// Notes may come in any order: an index beyond the end of a list makes the elements before it too, and by the
// last note each of those must have been named.
struct Applying {
  struct Hole {
    size_t at;  // of the note that went past it
    std::string_view list;
    uint64_t size, index;
  };
  std::vector<std::shared_ptr<const void>>& keep;
  uint64_t work_left, structure_left;
  const std::vector<Step>* steps = nullptr;
  const NoteValue* value = nullptr;
  size_t note_at = 0;
  std::vector<uint64_t> taken;        // the index that each step to here has now
  std::map<std::string, Hole> holes;  // by the path of the element
  std::string problem;

  bool fail(std::string why) {
    if (problem.empty()) problem = std::move(why);
    return false;
  }
  bool charge(uint64_t work, uint64_t bytes = 0) {
    if (work > work_left || bytes > structure_left)
      return fail("the notes ask for more than this text can be about");
    work_left -= work;
    structure_left -= bytes;
    return true;
  }
  std::string path(size_t last, uint64_t index) const {
    std::string out;
    for (size_t i = 0; i <= last; ++i)
      out += format(".{}[{}]", (*steps)[i].name, i == last ? index : taken[i]);
    return out;
  }
  template <class M>
  bool message(M& m, size_t i);
};

// Finds the field that has the name of a step.
template <class M>
struct FieldSetter {
  Applying& a;
  M& m;
  size_t i;
  using Kind = NoteValue::Kind;
  const Step& step() const { return (*a.steps)[i]; }
  bool last() const { return i + 1 == a.steps->size(); }
  bool done(bool good, const char* expected) {
    if (!good) a.fail(format("{} expects {}", quoted(step().name), expected));
    return true;
  }

  template <class T>
  bool operator()(uint32_t, const char* name, Opt<T>& f) {
    if (step().name != name) return false;
    if (last() && a.value->kind == Kind::absent) {
      f.clear();
      return true;
    }
    T v{};
    const bool good =
        last() && !step().indexed && a.value->kind == Kind::number && number_of(a.value->numbers[0], v);
    if (good) f = v;
    return done(good, "a number or absent");
  }
  bool operator()(uint32_t n, const char* name, Bytes& f) {
    if (step().name != name) return false;
    if (!last() || step().indexed) return done(false, "a text");
    const Kind kind = a.value->kind;
    if constexpr (std::is_same_v<M, TensorProto>) {
      if (n == 9 && kind == Kind::here) {
        if (Status s = move_to_raw(m); !s.ok()) a.fail(s.to_string());
        return true;
      }
      // Empty raw data may stand beside the elements; any other takes their place.
      if (n == 9 && !a.value->text.empty()) clear_typed(m);
    }
    if (kind == Kind::absent) {
      f.clear();
      return true;
    }
    const bool good = kind == Kind::text || kind == Kind::bytes;
    if (good && a.charge(1, a.value->text.size())) f = a.value->text;
    return done(good, "a text in quotes or absent");
  }
  template <class C>
  bool operator()(uint32_t, const char* name, Box<C>& f) {
    if (step().name != name) return false;
    if (step().indexed) return done(false, "no index");
    if (!last()) return into(f.make(), 0), true;
    if (a.value->kind == Kind::absent) f.clear();
    if (a.value->kind == Kind::message) f.make();
    return done(a.value->kind == Kind::absent || a.value->kind == Kind::message, "{} or absent");
  }
  bool operator()(uint32_t, const char* name, std::vector<Bytes>& f) {
    if (step().name != name) return false;
    if (last() && a.value->kind == Kind::first) return shorten(f);
    const bool good =
        last() && step().indexed && (a.value->kind == Kind::text || a.value->kind == Kind::bytes);
    for (uint64_t k = step().from; good && k < step().to; ++k) {
      if (!extend(f, k) || !a.charge(0, a.value->text.size())) break;
      f[k] = a.value->text;
    }
    return done(good, "an index and a text in quotes");
  }
  template <class C>
  bool operator()(uint32_t, const char* name, std::vector<C>& f) {
    if (step().name != name) return false;
    if (last() && a.value->kind == Kind::first) return shorten(f);
    if (!step().indexed) return done(false, "an index");
    for (uint64_t k = step().from; k < step().to && extend(f, k); ++k) {
      if (!last()) {
        if (!into(f[k], k)) break;
      } else if constexpr (std::is_same_v<C, StringStringEntryProto>) {
        if (a.value->kind == Kind::entry) {
          if (!a.charge(0, a.value->text.size() + a.value->second.size())) break;
          f[k].key = a.value->text;
          f[k].value = a.value->second;
        } else if (a.value->kind != Kind::message) {
          return done(false, "\"key\": \"value\"");
        }
      } else if (a.value->kind != Kind::message) {
        return done(false, "{} or a field after the index");
      }
    }
    return true;
  }
  template <class T, class... Rest>
  bool operator()(uint32_t, const char* name, Numbers<T>& f, Rest...) {
    if (step().name != name) return false;
    if (!last()) return done(false, "numbers");
    std::vector<T> values;
    if (!step().indexed) {
      bool good = a.value->kind == Kind::list;
      if (!a.charge(a.value->numbers.size(), sizeof(T) * a.value->numbers.size())) return true;
      values.resize(a.value->numbers.size());
      for (size_t k = 0; good && k < values.size(); ++k) good = number_of(a.value->numbers[k], values[k]);
      if (good) f = values;
      return done(good, "a list of numbers");
    }
    values = f.values();
    T v{};
    if (!a.charge(values.size())) return true;
    if (a.value->kind != Kind::number || !number_of(a.value->numbers[0], v) || step().to > values.size()) {
      return done(false, "an index that exists and a number");
    }
    std::fill(values.begin() + std::ptrdiff_t(step().from), values.begin() + std::ptrdiff_t(step().to), v);
    f = values;
    return true;
  }

 private:
  template <class C>
  bool into(C& child, uint64_t index) {
    a.taken.resize(i);
    a.taken.push_back(index);
    return a.message(child, i + 1);
  }
  template <class V>
  bool extend(V& list, uint64_t k) {
    if (!a.charge(a.holes.empty() ? 1 : i + 1)) return false;
    if (!a.holes.empty()) a.holes.erase(a.path(i, k));
    for (const size_t size = list.size(); list.size() <= k; list.emplace_back()) {
      if (!a.charge(0, 2 * sizeof(list[0]))) return false;  // a vector grows by doubling
      if (list.size() == k) continue;
      std::string path = a.path(i, list.size());
      if (!a.charge(1, 2 * path.size() + 2 * sizeof(Applying::Hole))) return false;
      a.holes[std::move(path)] = {a.note_at, step().name, size, k};
    }
    return true;
  }
  template <class V>
  bool shorten(V& list) {
    uint64_t n = 0;
    const bool good = !step().indexed && parse_unsigned(a.value->numbers[0], n) && n <= list.size();
    if (good) list.resize(n);
    return done(good, "a number of elements that is not larger");
  }
};

template <class M>
bool Applying::message(M& m, size_t i) {
  if (!charge(1)) return false;
  if (i > size_t(kMaxDepth)) return fail(format("messages are nested deeper than {} levels", kMaxDepth));
  const Step& step = (*steps)[i];
  if (step.name == "unknown" && i + 1 == steps->size() && value->kind == NoteValue::Kind::bytes) {
    auto bytes = std::make_shared<std::string>(value->text);
    if (!charge(bytes->size())) return false;
    m.origin = {reinterpret_cast<const uint8_t*>(bytes->data()), bytes->size()};
    keep.push_back(std::move(bytes));
    return true;
  }
  if (!Schema<M>::fields(FieldSetter<M>{*this, m, i}, m)) {
    return fail(format("{} has no field {}", Schema<M>::kName, quoted(step.name)));
  }
  return problem.empty();
}

}  // namespace

Status apply_notes(const TextLexer& lexer, ModelProto& model, std::vector<std::shared_ptr<const void>>& keep,
                   size_t text_size) {
  Applying applying{keep, 64 * uint64_t(text_size) + 1024,
                    ReadOptions().structure_bytes + 4 * uint64_t(text_size)};
  for (const TextLexer::Note& n : lexer.notes()) {
    std::vector<Step> steps;
    NoteValue value;
    if (!NoteReader(n.text).read(steps, value)) {
      return lexer.fail_at(n.at, "expected a note as in: #@ graph.node[0].doc_string = \"text\"");
    }
    applying.steps = &steps;
    applying.value = &value;
    applying.note_at = n.at;
    if (!applying.message(model, 0)) return lexer.fail_at(n.at, applying.problem);
  }
  if (applying.holes.empty()) return {};
  const auto& [at, list, size, index] = applying.holes.begin()->second;
  return lexer.fail_at(at, format("{} has {} elements, index {} is too large", quoted(list), size, index));
}

}  // namespace sx::onnx
