// SPDX-License-Identifier: Apache-2.0
#include "runtime/session.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <unordered_map>

#include "base/contained.h"
#include "base/format.h"
#include "base/task.h"
#include "base/thread_pool.h"
#include "convert/convert.h"
#include "graph/infer_graph.h"
#include "onnx/read.h"
#include "passes/optimize.h"
#include "runtime/compiled.h"
#include "runtime/copy_view.h"
#include "runtime/plan.h"
#include "runtime/plugin.h"
#include "runtime/special_programs.h"
#include "runtime/symbols.h"
#include "runtime/weights.h"

namespace sx {

struct Session::State {
  SessionOptions options;
  std::vector<std::unique_ptr<Provider>> owned;
  std::vector<Provider*> providers;  // chosen, best first; the last takes everything
  std::unique_ptr<ThreadPool> threads;
  std::shared_ptr<WeightStore> weights;
  std::shared_ptr<MemoryBudget> memory;
  // After rules, before placement: what every program starts from. Only read once the session is there.
  std::shared_ptr<Graph> original;
  // Before rules, where the inputs use a name for more than one dimension: rules may rely on it.
  std::unique_ptr<Graph> as_written;
  std::atomic<bool> names_bind = true;
  // The last one is in use. Those before it contain a provider that failed; other threads may still be in
  // them, and callers may hold references to their graphs.
  std::vector<std::unique_ptr<Compiled>> versions;
  std::atomic<Compiled*> current = nullptr;
  std::mutex rebuild;
  CompileSettings settings;
  std::atomic<bool> sizes_decide = false;
  std::unique_ptr<SpecialPrograms> special;
  std::vector<std::shared_ptr<Compiled>> seen;  // those that callers were shown: they may hold references
  std::vector<ValueDesc> inputs, outputs;
  std::unordered_map<std::string_view, size_t> input_at, output_at;  // by the names in those
  std::vector<std::string> rule_log;

  // Bindings are kept between runs so that a warm run allocates nothing.
  struct Bindings {
    std::vector<Binding> in, out;
  };
  IdleSlots<Bindings> idle_bindings;

  void start_threads();
  Status choose_providers();
  Status add_taps();
  Status fix_dims();
  Status compile(std::vector<Provider*> with);
  std::shared_ptr<Compiled> specialise(std::span<const Value> in);
  std::shared_ptr<Compiled> special_to_show(std::span<const Value> in);
  const Compiled& show();
  Status leave_out(const Compiled& used, Provider* failed, const Status& why);
  Result<bool> unbind_names(const Compiled& used, std::span<const Value> in);
  Status run_once(Compiled& c, std::span<const Value> in, std::span<Value> out, Bindings& bindings,
                  const RunOptions& run, Provider** failed);
  Status check_given(std::span<const Value> in) const;
  Status bind_input(size_t i, const Value& v, Binding& b) const;
  static Status take_output(Compiled& c, Binding& b, Value& v);
  Status allocate_outputs(const Compiled& c, const Plan& plan, std::span<Value> outputs,
                          std::vector<Binding>& out);
};

Session::Session(std::unique_ptr<State> state) : state_(std::move(state)) {}
Session::~Session() = default;

std::shared_ptr<MemoryBudget> budget_of(const SessionOptions& options) {
  if (options.memory) return options.memory;
  return std::make_shared<MemoryBudget>(options.memory_limit ? options.memory_limit : machine_memory());
}

namespace {

using Loaded = Result<std::unique_ptr<Session>>;

// Loading takes its memory from the session's account and ends when it is asked to.
template <class F>
Loaded loading(SessionOptions& options, F&& f) {
  options.memory = budget_of(options);
  const TaskScope scope({options.memory.get(), SIZE_MAX, options.cancel});
  return contained([&]() -> Loaded {
    auto session = f();
    SX_TRY(check_stop());
    return session;
  });
}

}  // namespace

Result<std::unique_ptr<Session>> Session::load(const std::string& path, SessionOptions options) {
  return loading(options, [&]() -> Loaded {
    SX_ASSIGN(auto model, onnx::read_model(path, {.load = options.load}));
    auto graph = to_graph(*model, {.log = options.log, .allow_newer = options.allow_newer});
    if (!graph.ok()) return std::move(graph).status().in(path);
    model.reset();  // its messages; constants keep the file
    auto session = from_graph(std::move(graph).value(), options);
    return std::move(session).in(path);
  });
}

Result<std::unique_ptr<Session>> Session::from_bytes(const void* data, size_t size, SessionOptions options) {
  return loading(options, [&]() -> Loaded {
    SX_ASSIGN(auto model, onnx::read_model(MappedFile::from_bytes("model", data, size), "", {}));
    SX_ASSIGN(Graph graph, to_graph(*model, {.log = options.log, .allow_newer = options.allow_newer}));
    model.reset();
    return from_graph(std::move(graph), options);
  });
}

namespace {

bool names_repeat(const Graph& graph) {
  std::vector<bool> seen(graph.pool().symbols(), false);
  for (ValueId v : graph.main().inputs) {
    for (Dim d : graph.value(v).type.shape.dims) {
      const int64_t s = pure_symbol(d);
      if (s < 0) continue;
      if (seen[size_t(s)]) return true;
      seen[size_t(s)] = true;
    }
  }
  return false;
}

}  // namespace

Result<std::unique_ptr<Session>> Session::from_graph(Graph graph, SessionOptions options) {
  return loading(options, [&] { return make(std::move(graph), std::move(options)); });
}

Result<std::unique_ptr<Session>> Session::make(Graph graph, SessionOptions options) {
  if (options.most_plans == 0) return Status(Code::invalid_argument, "most_plans is 0, expected 1 or more");
  auto state = std::make_unique<State>();
  state->memory = options.memory;
  state->options = std::move(options);
  state->options.cancel = nullptr;  // of the loading alone
  state->start_threads();
  state->weights = state->options.weights ? state->options.weights : std::make_shared<WeightStore>();
  state->original = std::make_shared<Graph>(std::move(graph));
  SX_TRY(state->choose_providers());
  SX_TRY(state->add_taps());
  SX_TRY(state->fix_dims());
  if (state->options.rules) {
    if (!state->options.strict_names && names_repeat(*state->original)) {
      SX_ASSIGN(Graph written, state->original->clone());
      state->as_written = std::make_unique<Graph>(std::move(written));
    }
    SX_TRY(passes::optimize(*state->original, {.log = state->options.log, .applied = &state->rule_log}));
  }
  state->special = std::make_unique<SpecialPrograms>(state->options.most_plans);
  state->settings = {{},
                     state->weights.get(),
                     state->threads.get(),
                     state->options.most_plans,
                     state->options.profile,
                     state->memory};
  SX_TRY(state->compile(state->providers));
  const Graph& compiled = state->current.load()->graph;
  for (ValueId v : compiled.main().inputs)
    state->inputs.push_back({compiled.value(v).name, compiled.value(v).type});
  for (ValueId v : compiled.main().outputs)
    state->outputs.push_back({compiled.value(v).name, compiled.value(v).type});
  for (size_t i = 0; i < state->inputs.size(); ++i) state->input_at.try_emplace(state->inputs[i].name, i);
  for (size_t i = 0; i < state->outputs.size(); ++i) state->output_at.try_emplace(state->outputs[i].name, i);
  return std::unique_ptr<Session>(new Session(std::move(state)));
}

void Session::State::start_threads() {
  threads = std::make_unique<ThreadPool>(options.threads);
  if (options.threads <= threads->width()) return;
  options.log(LogLevel::warn,
              format("{} threads were asked for, {} work: {}", options.threads, threads->width(),
                     threads->width() < most_threads() ? "the system gives no more" : "more would not help"));
}

Status Session::State::choose_providers() {
  for (size_t i = 0; i < options.plugins.size(); ++i) {
    SX_ASSIGN(auto loaded, load_plugin(options.plugins[i], uint32_t(i)));
    for (auto& p : loaded) owned.push_back(std::move(p));
  }
  for (auto& p : builtin_providers()) owned.push_back(std::move(p));
  if (options.providers.empty()) {
    for (auto& p : owned) providers.push_back(p.get());
    return {};
  }
  for (const std::string& name : options.providers) {
    auto found = std::find_if(owned.begin(), owned.end(), [&](auto& p) { return p->name() == name; });
    if (found == owned.end()) {
      std::string known;
      for (auto& p : owned) known += format("{}'{}'", known.empty() ? "" : ", ", p->name());
      return error(Code::not_found, "there is no provider '{}'; known are {}", name, known);
    }
    providers.push_back(found->get());
  }
  // What the chosen ones refuse still has to run: the last provider takes everything.
  if (providers.back() != owned.back().get()) providers.push_back(owned.back().get());
  return {};
}

Status Session::State::add_taps() {
  std::unordered_map<std::string_view, ValueId> named;
  for (ValueId v = 0; v < original->values() && !options.taps.empty(); ++v) {
    if (original->value(v).body == kMainBody) named[original->value(v).name] = v;
  }
  for (const std::string& name : options.taps) {
    const auto found = named.find(name);
    if (found == named.end())
      return error(Code::not_found, "there is no value '{}' to tap in the main graph", name);
    if (!original->is_main_output(found->second)) original->add_output(kMainBody, found->second);
  }
  return {};
}

// A fixed symbol becomes a constant in the inputs' types; inference carries it on.
Status Session::State::fix_dims() {
  if (options.dims.empty()) return {};
  DimPool& pool = original->pool();
  for (const auto& [name, size] : options.dims) {
    const Dim symbol = pool.symbol(name);
    bool used = false;
    for (ValueId v = 0; v < original->values(); ++v) {
      for (Dim& d : original->value(v).type.shape.dims) {
        if (d == symbol) {
          d = Dim(size);
          used = true;
        }
      }
    }
    if (!used) return error(Code::not_found, "no input or value has a dimension named '{}'", name);
  }
  return infer_graph(*original);
}

Status Session::State::compile(std::vector<Provider*> with) {
  settings.providers = std::move(with);
  SX_ASSIGN(Graph graph, original->clone_apart());
  SX_ASSIGN(auto c, compile_graph(std::move(graph), settings));
  sizes_decide = options.rules && late_values(*c->program) > 0;
  special->clear();
  versions.push_back(std::move(c));
  current.store(versions.back().get(), std::memory_order_release);
  return {};
}

// Makes the program for just these sizes, where sizes decide what runs; null where it cannot be had. The
// caller was told to by `special`.
std::shared_ptr<Compiled> Session::State::specialise(std::span<const Value> in) {
  const auto start = std::chrono::steady_clock::now();
  CompileSettings with;
  const Compiled* version = nullptr;
  std::shared_ptr<const Graph> general;
  {
    std::lock_guard lock(rebuild);
    with = settings;
    general = original;
    version = current.load();
  }
  std::vector<Dims> sizes;
  for (const Value& v : in) sizes.push_back(v.is_tensor() ? v.tensor.dims() : Dims());
  std::shared_ptr<Compiled> made;
  const Status status = contained([&]() -> Status {
    SX_ASSIGN(Graph graph, with_input_sizes(*general, sizes, options.log));
    SX_ASSIGN(made, compile_graph(std::move(graph), with));
    return {};
  });
  if (!status.ok()) {
    options.log(LogLevel::info, format("not specialised for these sizes: {}", status.to_string()));
  }
  std::lock_guard lock(rebuild);
  if (stop_requested() || status.code() == Code::out_of_memory || version != current.load()) {
    special->given_up();  // half done, without memory, or for providers that are left out by now
    return nullptr;
  }
  if (made && late_values(*made->program) >= late_values(*version->program))
    made = nullptr;  // nothing is gained
  special->finished(in, made, std::chrono::steady_clock::now() - start);
  return made;
}

std::shared_ptr<Compiled> Session::State::special_to_show(std::span<const Value> in) {
  if (!sizes_decide) return nullptr;
  std::shared_ptr<Compiled> found = special->find(in);
  return !found && special->begin() ? specialise(in) : found;
}

const Compiled& Session::State::show() {
  std::lock_guard lock(rebuild);
  const std::shared_ptr<Compiled> shown = special->newest();
  if (!shown) return *current.load();
  if (std::find(seen.begin(), seen.end(), shown) == seen.end()) seen.push_back(shown);
  return *shown;
}

// A provider failed in `used`: compiles again without it, unless another thread already did.
Status Session::State::leave_out(const Compiled& used, Provider* failed, const Status& why) {
  std::lock_guard lock(rebuild);
  if (current.load() != &used) return {};
  std::vector<Provider*> rest = used.placement.providers;
  std::erase(rest, failed);
  if (rest.empty() || rest.back() != used.placement.providers.back())
    return why;  // nobody else takes everything
  options.log(LogLevel::warn, format("provider '{}' failed and is left out from now on: {}", failed->name(),
                                     why.to_string()));
  SX_TRY(
      compile(std::move(rest)).in(format("compiling without provider '{}', which failed", failed->name())));
  for (const auto& pool : used.machine.pools) pool->trim();
  return {};
}

// Inputs whose sizes differ where their dimensions have one name: from now on names say nothing. False: that
// is not what is wrong.
Result<bool> Session::State::unbind_names(const Compiled& used, std::span<const Value> in) {
  if (options.strict_names || !names_bind) return false;
  std::vector<Dims> sizes;
  for (const Value& v : in) sizes.push_back(v.is_tensor() ? v.tensor.dims() : Dims());
  std::lock_guard lock(rebuild);
  if (current.load() != &used) return true;
  const std::string what = contradiction(*original, sizes);
  if (what.empty()) return false;
  options.log(LogLevel::warn, what + "; names of dimensions are taken for no constraint from now on");
  SX_ASSIGN(Graph graph, with_own_names(as_written ? *as_written : *original));
  if (options.rules) SX_TRY(passes::optimize(graph, {.log = options.log}));
  original = std::make_shared<Graph>(std::move(graph));
  as_written.reset();
  names_bind = false;
  SX_TRY(compile(settings.providers));
  return true;
}

namespace {

// Inputs or outputs with their types, a line each; of very many the first ones.
struct Listing {
  static constexpr size_t kMost = 50;
  std::string lines;
  size_t count = 0;

  void add(const ValueDesc& d) {
    if (count++ < kMost) lines += format("\n  {}  {}", d.name, to_string(d.type));
  }
  std::string text() const {
    return count <= kMost ? lines : lines + format("\n  … and {} more", count - kMost);
  }
};

}  // namespace

Status Session::State::check_given(std::span<const Value> in) const {
  Listing missing;
  for (size_t i = 0; i < in.size(); ++i) {
    if (in[i].kind == Value::Kind::none) missing.add(inputs[i]);
  }
  if (missing.count == 0) return {};
  return error(Code::invalid_argument, "inputs that were not given:{}", missing.text());
}

namespace {

// One element where one element is declared, under another rank: [1] for a scalar, or the reverse.
bool differs_in_ones_alone(const Tensor& given, const Shape& declared) {
  if (given.count() != 1 || !declared.known || given.rank() == declared.rank()) return false;
  return std::all_of(declared.dims.begin(), declared.dims.end(),
                     [](Dim d) { return !d.is_constant() || d.is_constant(1); });
}

// Callers may give what lies at any address; kernels read numbers.
Status align(Value& v) {
  SX_ASSIGN(v.tensor, v.tensor.align());
  return {};
}

}  // namespace

Status Session::State::bind_input(size_t i, const Value& v, Binding& b) const {
  const Type& expected = inputs[i].type;
  if (v.kind != expected.kind) {
    return error(Code::invalid_argument, "input '{}' is a {}, expected {}", inputs[i].name, kind_name(v.kind),
                 to_string(expected));
  }
  b.view = {};
  b.value = v;
  if (!v.is_tensor()) return {};
  if (v.tensor.type() != expected.elem) {
    return error(Code::invalid_argument, "input '{}' is {}{}, expected {}", inputs[i].name,
                 dtype_name(v.tensor.type()), to_string(v.tensor.dims()), to_string(expected));
  }
  if (differs_in_ones_alone(v.tensor, expected.shape)) {
    SX_ASSIGN(Tensor as_declared, v.tensor.reshaped(Dims(expected.shape.rank(), 1)));
    b.value = Value(std::move(as_declared));
  }
  if (v.tensor.type() == DType::string) return {};
  const bool aligned = v.tensor.aligned();
  if (!aligned) SX_TRY(align(b.value).in(inputs[i].name));
  b.view = view_of(b.value.tensor);
  if (aligned) b.value = Value();  // the caller keeps it
  return {};
}

// Outputs that a kernel writes go straight into memory of the caller's: what was given, or a fresh tensor.
Status Session::State::allocate_outputs(const Compiled& c, const Plan& plan, std::span<Value> results,
                                        std::vector<Binding>& out) {
  for (size_t i = 0; i < out.size(); ++i) {
    out[i].view = {};
    out[i].value = Value();
    out[i].block = {};
    const SlotId slot = c.program->outputs()[i];
    const View& planned = plan.views[slot];
    const bool sized = planned.defined() && c.program->slots()[slot].kind != Slot::Kind::late;
    Value& v = results[i];
    if (v.is_tensor() && v.tensor.mutable_data() && v.tensor.type() != DType::string) {
      if (!sized || (v.tensor.type() == planned.type && v.tensor.dims() == planned.dims)) {
        if (!v.tensor.aligned())
          return error(Code::invalid_argument,
                       "output '{}' is {}, the memory bound to it is not aligned to {} bytes",
                       outputs[i].name, dtype_name(v.tensor.type()), dtype_alignment(v.tensor.type()));
        out[i].view = view_of_mutable(v.tensor);
        continue;
      }
      return error(Code::invalid_argument, "output '{}' is {}{}, the memory bound to it is {}{}",
                   outputs[i].name, dtype_name(planned.type), to_string(planned.dims),
                   dtype_name(v.tensor.type()), to_string(v.tensor.dims()));
    }
    if (!sized) continue;
    auto t = Tensor::allocate(planned.type, planned.dims);
    if (!t.ok()) return std::move(t).status().in(format("output '{}'", outputs[i].name));
    v = Value(std::move(t).value());
    out[i].view = view_of_mutable(v.tensor);
  }
  return {};
}

Status Session::State::take_output(Compiled& c, Binding& b, Value& v) {
  if (b.view.defined() && !b.block) return {};  // written in place
  if (!b.view.defined()) {
    v = std::move(b.value);
    return {};
  }
  auto t = Tensor::allocate(b.view.type, b.view.dims);
  if (t.ok()) copy_view(b.view, view_of_mutable(*t));
  c.machine.pools[0]->give(std::exchange(b.block, {}));
  if (!t.ok()) return std::move(t).status();
  v = Value(std::move(t).value());
  return {};
}

Status Session::State::run_once(Compiled& c, std::span<const Value> in, std::span<Value> out,
                                Bindings& bindings, const RunOptions& run, Provider** failed) {
  bindings.in.resize(in.size());
  bindings.out.resize(out.size());
  for (size_t i = 0; i < in.size(); ++i) SX_TRY(bind_input(i, in[i], bindings.in[i]));
  const RunRequest request{bindings.in, bindings.out, run.cancel, {}, failed};
  SX_ASSIGN(auto plan, c.program->find_plan(request));
  SX_TRY(allocate_outputs(c, *plan, out, bindings.out));
  SX_TRY(c.program->run(request, std::move(plan)));
  for (size_t i = 0; i < out.size(); ++i)
    SX_TRY(take_output(c, bindings.out[i], out[i]).in(format("output '{}'", outputs[i].name)));
  return stop_requested() ? check_stop() : Status();
}

Status Session::run(std::span<const Value> inputs, std::span<Value> outputs, const RunOptions& run) {
  State& s = *state_;
  if (inputs.size() != s.inputs.size() || outputs.size() != s.outputs.size()) {
    return error(Code::invalid_argument, "expected {} inputs and {} outputs, got {} and {}", s.inputs.size(),
                 s.outputs.size(), inputs.size(), outputs.size());
  }
  SX_TRY(s.check_given(inputs));
  const TaskScope scope({s.memory.get(), run.memory_limit ? run.memory_limit : SIZE_MAX, run.cancel});
  std::unique_ptr<State::Bindings> bindings = s.idle_bindings.take();
  if (!bindings) bindings = std::make_unique<State::Bindings>();
  Status status;
  for (Provider* failed = nullptr;; failed = nullptr) {
    Compiled& c = *s.current.load(std::memory_order_acquire);
    const std::shared_ptr<Compiled> special = s.sizes_decide ? s.special->find(inputs) : nullptr;
    const auto start = std::chrono::steady_clock::now();
    status = contained(
        [&] { return s.run_once(special ? *special : c, inputs, outputs, *bindings, run, &failed); });
    const bool general = s.sizes_decide && !special && status.ok();
    if (general && s.special->worth_making(inputs, std::chrono::steady_clock::now() - start))
      s.specialise(inputs);
    if (status.ok()) break;
    if (!failed) {
      auto again = s.unbind_names(c, inputs);
      if (again.ok() && *again) continue;
      if (!again.ok()) status = std::move(again).status();
      break;
    }
    if (Status left = s.leave_out(c, failed, status); !left.ok()) {
      status = std::move(left);
      break;
    }
  }
  s.idle_bindings.give(std::move(bindings));
  return status;
}

namespace {

Result<size_t> find_name(const std::vector<ValueDesc>& all,
                         const std::unordered_map<std::string_view, size_t>& index, std::string_view name,
                         const char* kind, const char* verb) {
  if (const auto it = index.find(name); it != index.end()) return it->second;
  Listing there;
  for (const ValueDesc& d : all) there.add(d);
  return error(Code::invalid_argument, "there is no {} '{}'; the model {}{}", kind, name, verb, there.text());
}

}  // namespace

Result<size_t> Session::input_index(std::string_view name) const {
  return find_name(state_->inputs, state_->input_at, name, "input", "takes");
}

Result<size_t> Session::output_index(std::string_view name) const {
  return find_name(state_->outputs, state_->output_at, name, "output", "gives");
}

Result<std::vector<Value>> Session::run(std::span<const NamedValue> feeds, std::span<const std::string> names,
                                        const RunOptions& options) {
  std::vector<Value> in(state_->inputs.size()), out(state_->outputs.size());
  for (const NamedValue& feed : feeds) {
    SX_ASSIGN(const size_t i, input_index(feed.name));
    in[i] = feed.value;
  }
  std::vector<size_t> wanted;
  for (const std::string& name : names) {
    SX_ASSIGN(const size_t i, output_index(name));
    wanted.push_back(i);
  }
  SX_TRY(run(std::span<const Value>(in), std::span<Value>(out), options));
  if (names.empty()) return out;
  std::vector<Value> chosen;
  for (size_t i : wanted) chosen.push_back(out[i]);
  return chosen;
}

Result<std::shared_ptr<const Plan>> Session::plan(std::span<const Value> inputs) {
  std::vector<Binding> in(state_->inputs.size()), out(state_->outputs.size());
  if (inputs.size() != in.size()) return Status(Code::invalid_argument, "one value for each input is needed");
  const TaskScope scope({state_->memory.get(), SIZE_MAX, nullptr});
  for (size_t i = 0; i < in.size(); ++i) SX_TRY(state_->bind_input(i, inputs[i], in[i]));
  for (;;) {
    Compiled& c = *state_->current.load();
    const std::shared_ptr<Compiled> special = state_->special_to_show(inputs);
    auto plan = (special ? *special : c).program->find_plan({in, out, nullptr, {}});
    if (plan.ok()) return std::shared_ptr<const Plan>(std::move(plan).value());
    SX_ASSIGN(const bool again, state_->unbind_names(c, inputs));
    if (!again) return std::move(plan).status();
  }
}

const std::vector<ValueDesc>& Session::inputs() const { return state_->inputs; }
const std::vector<ValueDesc>& Session::outputs() const { return state_->outputs; }
const SessionOptions& Session::options() const { return state_->options; }
const Graph& Session::graph() const { return state_->show().graph; }
const Placement& Session::placement() const { return state_->show().placement; }
const Program& Session::program() const { return *state_->show().program; }
const std::vector<std::string>& Session::rule_log() const { return state_->rule_log; }
size_t Session::packed_bytes() const { return state_->weights->packed_bytes(); }
size_t Session::arena_bytes() const { return state_->show().machine.pools[0]->held_bytes(); }
void Session::clear_profile() { state_->show().program->clear_times(); }

std::vector<std::string> Session::providers() const {
  std::vector<std::string> names;
  for (const Provider* p : state_->current.load()->placement.providers) names.emplace_back(p->name());
  return names;
}

}  // namespace sx
