// SPDX-License-Identifier: Apache-2.0
// LSTM with constant weights, packed ahead.
#include "kernels/lstm.h"
#include "base/cpu.h"
#include "base/format.h"
#include "base/hash.h"
#include "family.h"
#include "graph/op.h"

namespace sx::cpu::lstm {
namespace {

using kernels::LstmPlan;
using kernels::LstmShape;

std::string refuses(const Site& site) {
  if (std::string why = refuse_unless_f32(site, {0, 1, 2, 3, 5, 6, 7}); !why.empty()) return why;
  for (size_t i : {1, 2, 3, 7}) {
    if (site.has(i) && !site.constant(i)) return format("input {} is not constant", i);
  }
  if (site.has(4) && site.in(4).elem != DType::i32) return "the sequence lengths are not int32";
  if (site.attrs().has("activations")) return "the activations are not the usual ones";
  return "";
}

struct LstmPrepared final : Prepared {
  LstmPlan plan;
};

class LstmKernel final : public NamedKernel {
 public:
  static Result<std::unique_ptr<Kernel>> make(CompileContext& context) {
    const Site site(context.graph, context.node);
    auto kernel = std::make_unique<LstmKernel>();
    LstmShape& s = kernel->shape_;
    const Tensor &w = *site.constant(1), &r = *site.constant(2);
    s.directions = size_t(w.dims()[0]);
    s.hidden = size_t(r.dims()[2]);
    s.input = size_t(w.dims()[2]);
    s.reverse = site.attrs().text("direction", "forward") == "reverse";
    s.peepholes = site.has(7);
    s.input_forget = site.attrs().integer("input_forget", 0) != 0;
    s.clip = site.attrs().floating("clip", 0);
    kernel->batch_first_ = site.attrs().integer("layout", 0) != 0;
    kernel->name_ = format("lstm {}{}", s.hidden, s.directions == 2 ? " both ways" : "");
    for (size_t i : {1, 2, 3, 7}) kernel->traits_.unused_inputs |= site.has(i) ? uint64_t(1) << i : 0;
    s.steps = 1;
    const LstmPlan plan(s);
    // The store knows the packed form by W's memory; the other weights in it are told apart by their
    // contents.
    uint64_t others = 0;
    for (size_t i : {2, 3, 7})
      others =
          site.constant(i) ? hash_bytes(site.constant(i)->data(), site.constant(i)->bytes(), others) : others;
    const std::string kind = format("lstm {} {:x}", isa_name(active_isa()), others);
    const auto row = [&](const Tensor* t, const void* begin, size_t d) -> const void* {
      return t ? static_cast<const char*>(begin) + t->bytes() / s.directions * d : nullptr;
    };
    const auto other = [&](size_t i, size_t d) {
      const Tensor* t = site.constant(i);
      return row(t, t ? t->data() : nullptr, d);
    };
    const auto fill = [&](const void* from, void* to) {
      for (size_t d = 0; d < s.directions; ++d)
        plan.pack(d, row(&w, from, d), other(2, d), other(3, d), other(7, d), static_cast<float*>(to));
      return Status();
    };
    SX_ASSIGN(kernel->packed_,
              context.weights.pack(w, kind, plan.packed_floats() * sizeof(float), context.parallel, fill));
    return std::unique_ptr<Kernel>(std::move(kernel));
  }

  Result<std::unique_ptr<Prepared>> prepare(ViewList in, ViewList, Needs& needs) override {
    LstmShape s = shape_;
    s.steps = size_t(in[0]->dims[batch_first_ ? 1 : 0]);
    s.batch = size_t(in[0]->dims[batch_first_ ? 0 : 1]);
    auto p = std::make_unique<LstmPrepared>();
    p->plan = LstmPlan(s);
    needs.scratch = p->plan.scratch_floats() * sizeof(float);
    return std::unique_ptr<Prepared>(std::move(p));
  }

  Status run(const Prepared* prepared, ViewList in, ViewList out, RunContext& context) override {
    const LstmPlan& plan = static_cast<const LstmPrepared*>(prepared)->plan;
    const LstmShape& s = plan.shape();
    kernels::LstmData d;
    const ptrdiff_t hidden = ptrdiff_t(s.hidden), batch = ptrdiff_t(s.batch), input = ptrdiff_t(s.input),
                    steps = ptrdiff_t(s.steps), directions = ptrdiff_t(s.directions);
    auto given = [&](size_t i) { return i < in.size() && in[i]->defined(); };
    d.x = in[0]->as<float>();
    d.x_time = batch_first_ ? input : batch * input;
    d.x_batch = batch_first_ ? steps * input : input;
    if (given(4)) {
      d.lengths = in[4]->as<int32_t>();
      for (size_t b = 0; b < s.batch; ++b) {
        if (d.lengths[b] < 0 || size_t(d.lengths[b]) > s.steps) {
          return error(Code::invalid_argument, "sequence {} has length {}, the input has {} steps", b,
                       d.lengths[b], s.steps);
        }
      }
    }
    if (given(5)) d.h0 = in[5]->as<float>();
    if (given(6)) d.c0 = in[6]->as<float>();
    d.state_direction = batch_first_ ? hidden : batch * hidden;
    d.state_batch = batch_first_ ? directions * hidden : hidden;
    auto wanted = [&](size_t i) {
      return i < out.size() && out[i]->defined() ? out[i]->as_mutable<float>() : nullptr;
    };
    d.y = wanted(0);
    d.y_time = batch_first_ ? directions * hidden : directions * batch * hidden;
    d.y_direction = batch_first_ ? hidden : batch * hidden;
    d.y_batch = batch_first_ ? steps * directions * hidden : hidden;
    d.h_last = wanted(1);
    d.c_last = wanted(2);
    kernels::lstm_run(plan, static_cast<const float*>(packed_->data()), d,
                      static_cast<float*>(context.scratch), context.parallel);
    return {};
  }

 private:
  LstmShape shape_;
  bool batch_first_ = false;
  std::shared_ptr<const Buffer> packed_;
};

const Implementation kLstm[] = {{"lstm", refuses, LstmKernel::make}};
const Family kFamilies[] = {{"LSTM", "", kLstm}};

}  // namespace

std::span<const Family> families() { return kFamilies; }

}  // namespace sx::cpu::lstm
