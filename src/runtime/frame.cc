// SPDX-License-Identifier: Apache-2.0
#include "runtime/plan.h"

namespace sx {

Plan::Plan() = default;
Plan::~Plan() = default;

Frame::Frame(const Program& program, Plan& p)
    : plan(p),
      symbols(p.symbols),
      views(p.views),
      values(p.views.size()),
      blocks(p.views.size()),
      arenas(p.arena_bytes.size()),
      arena_was(p.arena_bytes.size()),
      in(program.steps().size()),
      out(program.steps().size()),
      late_steps(program.steps().size()),
      late_dims(program.steps().size()),
      scratch(program.steps().size()),
      by_input(program.inputs().size()),
      by_output(program.outputs().size()) {
  const auto& steps = program.steps();
  for (size_t k = 0; k < steps.size(); ++k) {
    for (SlotId s : steps[k].in) in[k].push_back(&views[s]);
    for (SlotId s : steps[k].out) out[k].push_back(&views[s]);
  }
  for (SlotId s = 0; s < views.size(); ++s) {
    const Address& a = plan.addresses[s];
    if (a.base == Address::Base::input) by_input[a.index].push_back(s);
    if (a.base == Address::Base::output) by_output[a.index].push_back(s);
    const Slot& slot = program.slots()[s];
    if (slot.kind == Slot::Kind::constant) values[s] = slot.constant;
  }
}

void Frame::bind(size_t index, Address::Base base, void* data) {
  const auto& list = base == Address::Base::input ? by_input[index] : by_output[index];
  for (SlotId s : list) views[s].data = data ? static_cast<char*>(data) + plan.addresses[s].offset : nullptr;
}

}  // namespace sx
