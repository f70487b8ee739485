// SPDX-License-Identifier: Apache-2.0
// sardonyx explain: what will run, on whom, how it lies in memory, what was fused, and why not otherwise.
#include <algorithm>

#include "base/cpu.h"
#include "base/format.h"
#include "graph/op.h"
#include "json.h"
#include "runtime/copy_view.h"
#include "runtime/plan.h"
#include "session_flags.h"

namespace sx::tools::commands {
namespace {

struct Described {
  std::string step, kernel, provider, layout, shape, memory;
  std::vector<std::string> members, refusals;
  int depth = 0;
};

std::string step_kind(const Step& s) {
  if (s.kernel) return std::string(s.kernel->name());
  switch (s.kind) {
    case Step::Kind::view: return "view";
    case Step::Kind::transfer: return "transfer";
    case Step::Kind::branch: return "branch";
    case Step::Kind::control: return "loop";
    default: return "copy";
  }
}

std::string memory_of(const Plan& plan, SlotId slot, const Slot& s) {
  if (s.kind == Slot::Kind::value) return "values";
  if (s.kind == Slot::Kind::late) return "recycled block";
  const Address& a = plan.addresses[slot];
  std::string bytes = bytes_text(double(contiguous_bytes(plan.views[slot])));
  switch (a.base) {
    case Address::Base::arena: return format("{} at {}", bytes, bytes_text(double(a.offset)));
    case Address::Base::output: return bytes + " in the output";
    case Address::Base::input: return bytes + " in the input";
    default: return bytes;
  }
}

void describe_program(const Session& session, const Program& program, const Plan* plan, int depth,
                      std::vector<Described>& list) {
  const Graph& graph = session.graph();
  for (const Step& s : program.steps()) {
    Described d;
    d.step = s.label;
    d.kernel = step_kind(s);
    d.provider = s.provider ? std::string(s.provider->name()) : "runtime";
    d.depth = depth;
    if (!s.out.empty()) {
      const Slot& slot = program.slots()[s.out[0]];
      d.layout = to_string(slot.layout);
      if (slot.value != kNoValue) d.shape = to_string(graph.value(slot.value).type);
      if (plan) d.memory = memory_of(*plan, s.out[0], slot);
    }
    if (s.node != kNoNode) {
      if (const Body* body = group_body(graph, s.node)) {
        for (NodeId m : body->nodes)
          d.members.push_back(format("{}{}{}", graph.node(m).op->name, graph.node(m).name.empty() ? "" : " ",
                                     graph.node(m).name));
      }
      for (const ClaimNote& note : session.placement().notes[s.node]) {
        d.refusals.push_back(
            format("{} {}: {}", note.provider, note.yes ? "takes it" : "refuses", note.reason));
      }
    }
    list.push_back(std::move(d));
    for (const auto& child : s.children) describe_program(session, *child, nullptr, depth + 1, list);
  }
}

class Explain final : public Command {
 public:
  Explain() {
    name = "explain";
    summary = "what will run, on whom, and why not otherwise";
    example = "sardonyx explain model.onnx --dim batch=1";
  }
  void options(Options& o) override {
    session_.add(o);
    inputs_.add(o);
    o.flag("--why", why_, "print for each step what each provider said");
    o.flag("--rules", rules_, "print the rewrites that were applied");
  }
  Outcome run(const Common& common, Terminal& out) override {
    auto options = session_.options(common);
    if (!options.ok()) return {options.status(), kUsage};
    auto session = session_.load(*options, out);
    if (!session.ok()) return refuse(std::move(session).status());
    inputs_.source.random = true;
    inputs_.source.dims = options->dims;
    std::shared_ptr<const Plan> plan;
    if (auto feeds = gather_inputs((*session)->inputs(), inputs_.source); feeds.ok()) {
      const auto in = in_order(**session, std::move(*feeds));
      if (!in.ok()) return refuse(in.status());
      if (auto made = (*session)->plan(*in); made.ok()) plan = *made;
    }
    std::vector<Described> list;
    describe_program(**session, (*session)->program(), plan.get(), 0, list);
    if (common.json)
      print_json(out, **session, list, plan.get());
    else
      print_text(out, **session, list, plan.get());
    return done();
  }

 private:
  void print_text(Terminal& out, const Session& session, const std::vector<Described>& list,
                  const Plan* plan) {
    std::string providers;
    for (const std::string& p : session.providers()) providers += (providers.empty() ? "" : ", then ") + p;
    out.line(format("{} steps at vector level {}; providers: {}; {} rewrites", list.size(),
                    isa_name(active_isa()), providers, session.rule_log().size()));
    if (plan)
      out.line(format("arena {}, packed weights {}", bytes_text(double(plan->arena_bytes[0])),
                      bytes_text(double(session.packed_bytes()))));
    out.line();
    if (rules_) {
      for (const std::string& r : session.rule_log()) out.line("  " + escaped(r));
      out.line();
    }
    if (!why_) return print_table(out, list);
    for (const Described& d : list) print_one(out, d);
  }

  // A narrow terminal gets what matters most: who ran it where that differs, and memory only where there is
  // room.
  static void print_table(Terminal& out, const std::vector<Described>& list) {
    constexpr size_t kRoomy = 110;
    const bool roomy = out.limit() >= kRoomy;
    const bool mixed = std::any_of(list.begin(), list.end(),
                                   [&](const Described& d) { return d.provider != list[0].provider; });
    std::vector<std::string> header = {"step", "kernel"};
    if (mixed || roomy) header.emplace_back("provider");
    header.insert(header.end(), {"layout", "result"});
    if (roomy) header.emplace_back("memory");
    Table table(header);
    for (const Described& d : list) {
      std::vector<std::string> cells = {std::string(size_t(d.depth) * 2, ' ') + shorten(escaped(d.step), 40),
                                        shorten(d.kernel, 40)};
      if (mixed || roomy) cells.push_back(d.provider);
      cells.insert(cells.end(), {d.layout, shorten(escaped(d.shape), 44)});
      if (roomy) cells.push_back(d.memory);
      table.row(std::move(cells));
    }
    table.print(out);
  }

  static void print_one(Terminal& out, const Described& d) {
    const std::string indent(size_t(d.depth) * 2, ' ');
    out.line(indent + out.paint(Style::bold, escaped(d.step)) + "  " + d.kernel + "  [" + d.provider + ", " +
             d.layout + "]");
    out.line(indent + "    " + escaped(d.shape) + (d.memory.empty() ? "" : ", " + d.memory));
    for (const std::string& m : d.members)
      out.line(indent + out.paint(Style::dim, "    fused  " + escaped(m)));
    for (const std::string& r : d.refusals) out.line(indent + out.paint(Style::dim, "    " + escaped(r)));
  }

  static void print_json(Terminal& out, const Session& session, const std::vector<Described>& list,
                         const Plan* plan) {
    Json j;
    j.open_object()
        .text("isa", isa_name(active_isa()))
        .integer("arena_bytes", plan ? int64_t(plan->arena_bytes[0]) : 0);
    j.integer("packed_bytes", int64_t(session.packed_bytes())).key("rewrites").open_array();
    for (const std::string& r : session.rule_log()) j.text(r);
    j.close_array().key("steps").open_array();
    for (const Described& d : list) {
      j.open_object()
          .text("step", d.step)
          .text("kernel", d.kernel)
          .text("provider", d.provider)
          .text("layout", d.layout);
      j.text("result", d.shape).text("memory", d.memory).integer("depth", d.depth).key("fused").open_array();
      for (const std::string& m : d.members) j.text(m);
      j.close_array().key("claims").open_array();
      for (const std::string& r : d.refusals) j.text(r);
      j.close_array().close_object();
    }
    j.close_array().close_object();
    out.line(j.str());
  }

  SessionFlags session_;
  InputFlags inputs_;
  bool why_ = false, rules_ = false;
};

}  // namespace

std::unique_ptr<Command> explain() { return std::make_unique<Explain>(); }

}  // namespace sx::tools::commands
