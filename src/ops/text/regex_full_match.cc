// SPDX-License-Identifier: Apache-2.0
// RegexFullMatch: does the whole string match the pattern (RE2 syntax)?
#include <re2/re2.h>

#include "base/task.h"
#include "graph/eval.h"
#include "graph/infer.h"
#include "graph/op.h"

namespace sx::ops::regex_full_match {

static Status infer(Infer& i) {
  i.set_tensor(0, DType::boolean, i.in(0).shape);
  return {};
}

static Status eval(Eval& e) {
  const re2::RE2 pattern(e.text("pattern"), re2::RE2::Quiet);
  if (!pattern.ok())
    return e.fail("pattern '{}' is not a regular expression: {}", e.text("pattern"), pattern.error());
  const std::span<const std::string> x = e.in(0).strings();
  const std::span<uint8_t> y = e.out(0).mutable_as<uint8_t>();
  StopCheck<256 * 1024> stop;
  for (size_t k = 0; k < x.size() && !stop(x[k].size() + 1024); ++k)
    y[k] = re2::RE2::FullMatch(x[k], pattern);
  return {};
}

extern const Op op = {
    .name = "RegexFullMatch",
    .in = {{"X", "T1"}},
    .out = {{"Y", "T2"}},
    .types = {{"T1", kString}, {"T2", kBool}},
    .attrs = {optional_attr("pattern", AttrKind::text)},
    .infer = infer,
    .eval = eval,
    .history = {{.since = 20}},
};

}  // namespace sx::ops::regex_full_match
