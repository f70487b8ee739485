// SPDX-License-Identifier: Apache-2.0
// The plugin door: models through the loopback and mixed with the toy, tables that are wrong, providers that
// fail.
#include "runtime/plugin.h"

#include <dlfcn.h>
#include <doctest/doctest.h>

#include <atomic>
#include <thread>

#include "../../providers/toy/toy.h"
#include "base/format.h"
#include "model_case.h"

using namespace sx;
using namespace sx::testing;

namespace {

// The library stays open between sessions, so that its counters do.
struct Toy {
  void* library = dlopen(SX_TOY, RTLD_NOW | RTLD_LOCAL);
  decltype(&toy_read_counters) read =
      reinterpret_cast<decltype(&toy_read_counters)>(dlsym(library, "toy_read_counters"));
  decltype(&toy_reset_counters) reset =
      reinterpret_cast<decltype(&toy_reset_counters)>(dlsym(library, "toy_reset_counters"));
  decltype(&toy_fail_at) fail_at = reinterpret_cast<decltype(&toy_fail_at)>(dlsym(library, "toy_fail_at"));

  Toy() {
    reset();
    fail_at(0);
  }
  ~Toy() {
    fail_at(0);
    dlclose(library);
  }
  toy_counters counters() const {
    toy_counters c;
    read(&c);
    return c;
  }
};

SessionOptions with_toy(unsigned threads = 1, bool rules = true) {
  SessionOptions o;
  o.plugins = {SX_TOY};
  o.threads = threads;
  o.rules = rules;
  return o;
}

SessionOptions with_loopback() {
  SessionOptions o;
  o.plugins = {SX_LOOPBACK};
  o.providers = {"loopback"};
  return o;
}

// The part of the kernels that a provider runs, branches and loops included.
double share_of(const Session& session, std::string_view provider) {
  size_t mine = 0, all = 0;
  auto visit = [&](auto& self, const Program& program) -> void {
    for (const Step& step : program.steps()) {
      for (const auto& child : step.children) self(self, *child);
      if (!step.kernel) continue;
      ++all;
      mine += step.provider->name() == provider;
    }
  };
  visit(visit, session.program());
  return double(mine) / double(all);
}

}  // namespace

TEST_CASE("the cpu provider through the loopback gives the same bits") {
  for (const char* name : {"digits", "residual_20", "residual_64", "residual_free_size", "encoder_script",
                           "encoder_written_out", "encoder_dynamo", "voice", "voice_squeeze", "loop_growing",
                           "loop_long", "loop_until", "pipeline_forest", "pipeline_boosting"}) {
    CAPTURE(name);
    SessionOptions direct;
    direct.providers = {"cpu"};
    auto cpu = session_of(name, direct);
    auto loopback = session_of(name, with_loopback());
    const ModelCase c = load_case(name, *cpu);
    const std::vector<Value> a = run_all(*cpu, c.inputs), b = run_all(*loopback, c.inputs);
    CHECK(worst_error(b, c.expected) < 1e-4);
    CHECK(bit_equal(a, b));
    CHECK(share_of(*cpu, "cpu") == share_of(*loopback, "loopback"));
  }
}

TEST_CASE("the toy mixed with the others uses its memory, layout, groups, packing and in-place kernels") {
  Toy toy;
  for (const char* name : {"digits", "residual_20", "residual_64", "residual_free_size"}) {
    for (const bool rules : {true, false}) {
      for (const unsigned threads : {1u, 2u}) {
        CAPTURE(name);
        CAPTURE(rules);
        CAPTURE(threads);
        auto session = session_of(name, with_toy(threads, rules));
        const ModelCase c = load_case(name, *session);
        toy.reset();
        CHECK(worst_error(run_all(*session, c.inputs), c.expected) < 1e-4);
        const toy_counters count = toy.counters();
        CHECK(share_of(*session, "toy") >= 1.0 / 3);
        CHECK(count.reorders >=
              (std::string_view(name) == "residual_free_size" ? 1 : 2));  // it ends in an average
        CHECK(count.own >= 2);
        CHECK(count.packed >= 2);
        CHECK(count.groups >= 1);
        CHECK(count.refused == 0);
        if (std::string_view(name) != "digits") CHECK(count.in_place >= 1);
        toy.reset();
        run_all(*session, c.inputs);
        CHECK(toy.counters().uploads <= 4);  // inputs and what the cpu made; weights went over once
      }
    }
  }
}

TEST_CASE("encoders, branches, loops and pipelines mixed with the toy") {
  Toy toy;
  for (const char* name :
       {"encoder_script", "encoder_dynamo", "encoder_written_out", "voice", "voice_squeeze", "loop_growing",
        "loop_long", "loop_until", "pipeline_forest", "pipeline_boosting"}) {
    CAPTURE(name);
    const bool encoder = std::string_view(name).substr(0, 7) == "encoder";
    for (const bool rules : {true, false}) {
      auto session = session_of(name, with_toy(1, rules));
      const ModelCase c = load_case(name, *session);
      CHECK(worst_error(run_all(*session, c.inputs), c.expected) < 1e-4);
      CHECK(toy.counters().refused == 0);
      CHECK(session->providers().front() == "toy");  // it did not fail on the way
      if (encoder) CHECK(share_of(*session, "toy") > 1.0 / 3);
    }
  }
}

TEST_CASE("an operand that a group reads twice is not overwritten in place") {
  const char* text = R"(<ir_version: 8, opset_import: ["" : 17]>
    g (float[N,3,5,5] x) => (float[N,3,5,5] y) <float[3,3,3,3] w = {
      1,2,3,4,5,6,7,8,9, -1,-2,-3,-4,-5,-6,-7,-8,-9, 1,0,1,0,1,0,1,0,1,
      9,8,7,6,5,4,3,2,1, 1,1,1,1,1,1,1,1,1, 2,0,2,0,2,0,2,0,2,
      0,1,0,1,0,1,0,1,0, 3,3,3,0,0,0,3,3,3, -1,0,1,-1,0,1,-1,0,1}> {
      a = Abs(x)
      c = Conv<pads = [1,1,1,1]>(a, w)
      s = Add(c, a)
      r = Relu(s)
      y = Neg(r)
    })";
  SessionOptions reference;
  reference.providers = {"reference"};
  auto truth = session_of_text(text, reference);
  const std::vector<Value> in = {Value(numbers({2, 3, 5, 5}, 7))};
  const std::vector<Value> expected = run_all(*truth, in);
  CHECK(worst_error(run_all(*session_of_text(text, with_toy()), in), expected) < 1e-6);
  CHECK(worst_error(run_all(*session_of_text(text, SessionOptions()), in), expected) < 1e-6);
}

TEST_CASE("views of the toy's memory") {
  // Transposes and slices between steps of the toy: strides cannot cross memory spaces.
  const char* text = R"(<ir_version: 8, opset_import: ["" : 17]>
    g (float[N,4,6] x) => (float[N,6,4] y, float[N,2,6] z)
      <int64[1] start = {1}, int64[1] end = {3}, int64[1] axis = {1}, int64[2] flat = {-1, 24}> {
      a = Relu(x)
      t = Transpose<perm = [0,2,1]>(a)
      u = Neg(t)
      y = Softmax(u)
      s = Slice(a, start, end, axis)
      v = Abs(s)
      z = Tanh(v)
    })";
  SessionOptions reference;
  reference.providers = {"reference"};
  auto truth = session_of_text(text, reference);
  for (int64_t n : {1, 3}) {
    const std::vector<Value> in = {Value(numbers({n, 4, 6}, 3))};
    CHECK(worst_error(run_all(*session_of_text(text, with_toy()), in), run_all(*truth, in)) < 1e-6);
  }
}

TEST_CASE("sizes that only a run can tell stay out of a provider's memory") {
  const char* text = R"(<ir_version: 8, opset_import: ["" : 17]>
    g (float[N] x) => (float[M] y) {
      i = NonZero(x)
      s = Transpose(i)
      p = GatherND(x, s)
      r = Relu(p)
      y = Sqrt(r)
    })";
  auto session = session_of_text(text, with_toy());
  const float values[] = {4, 0, -1, 9, 0};
  const std::vector<Value> out = run_all(*session, {Value(Tensor::of<float>(DType::f32, {5}, values))});
  REQUIRE(out[0].tensor.count() == 3);
  CHECK(out[0].tensor.as<float>()[0] == 2);
  CHECK(out[0].tensor.as<float>()[1] == 0);
  CHECK(out[0].tensor.as<float>()[2] == 3);
}

TEST_CASE("a provider that fails is left out and the run starts again") {
  Toy toy;
  for (long k = 1; k < 12; k += 2) {
    CAPTURE(k);
    std::string said;
    SessionOptions options = with_toy();
    options.log = {[](void* to, LogLevel, std::string_view text) { *static_cast<std::string*>(to) += text; },
                   &said};
    auto session = session_of("residual_20", options);
    const ModelCase c = load_case("residual_20", *session);
    CHECK(session->providers().front() == "toy");
    const Graph& before = session->graph();
    toy.fail_at(k);
    CHECK(worst_error(run_all(*session, c.inputs), c.expected) < 1e-4);
    CHECK(session->providers().front() == "cpu");
    CHECK(said.find("provider 'toy' failed and is left out") != std::string::npos);
    CHECK(said.find("told to") != std::string::npos);
    CHECK(before.nodes() > 0);  // what a caller held stays valid
    CHECK(worst_error(run_all(*session, c.inputs), c.expected) < 1e-4);
  }
}

TEST_CASE("a provider that fails inside a branch or a loop is left out too") {
  Toy toy;
  for (const char* name : {"voice", "loop_long", "encoder_script"}) {
    CAPTURE(name);
    auto session = session_of(name, with_toy());
    const ModelCase c = load_case(name, *session);
    run_all(*session, c.inputs);
    toy.fail_at(2);
    CHECK(worst_error(run_all(*session, c.inputs), c.expected) < 1e-4);
    CHECK(session->providers().front() == "cpu");
  }
}

TEST_CASE("what a session showed of a program for some sizes stays valid") {
  const char* text = R"(<ir_version: 8, opset_import: ["" : 17]>
    g (float[N] x) => (float[M] y) {
      a = Relu(x)
      n = Size(x)
      hundred = Constant<value_int = 100>()
      small = Less(n, hundred)
      w = If(small) <then_branch = t () => (float[A] u) { u = Identity(a) },
                     else_branch = e () => (float[B] v) { v = Concat<axis = 0>(a, a) }>
      y = Sqrt(w)
    })";
  Toy toy;
  SessionOptions options = with_toy();
  options.most_plans = 2;
  auto session = session_of_text(text, options);
  auto run = [&](int64_t n) {  // twice, so that a program for this size is made
    run_all(*session, {Value(numbers({n}, 1))});
    return run_all(*session, {Value(numbers({n}, 1))});
  };
  run(4);
  const Graph& first = session->graph();
  const Program& steps = session->program();
  for (int64_t n : {5, 6, 7}) run(n);  // more sizes than are kept
  const Graph& second = session->graph();
  CHECK(&first != &second);
  CHECK(session->providers().front() == "toy");
  toy.fail_at(1);
  const std::vector<Value> after = run(8);
  CHECK(session->providers().front() == "cpu");
  CHECK(bit_equal(after, run(8)));
  CHECK(first.value(first.main().inputs[0]).name == "x");
  CHECK(second.value(second.main().inputs[0]).name == "x");
  CHECK(steps.steps().size() >= 4);
}

TEST_CASE("threads that share a session while a provider fails") {
  Toy toy;
  auto session = session_of("residual_20", with_toy(2));
  const ModelCase c = load_case("residual_20", *session);
  toy.fail_at(40);
  std::atomic<int> wrong{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&] {
      for (int i = 0; i < 6; ++i) {
        std::vector<Value> out(session->outputs().size());
        const Status s = session->run(std::span<const Value>(c.inputs), std::span<Value>(out));
        if (!s.ok() || !(worst_error(out, c.expected) < 1e-4)) ++wrong;
      }
    });
  }
  for (std::thread& t : threads) t.join();
  CHECK(wrong == 0);
  CHECK(session->providers().front() == "cpu");
}

TEST_CASE("two plugins know their own layouts apart") {
  auto a = load_plugin(SX_TOY, 0), b = load_plugin(SX_TOY, 1);
  REQUIRE(a.ok());
  REQUIRE(b.ok());
  CHECK(a->front()->layout_owner() != b->front()->layout_owner());
  CHECK(a->front()->layout_owner() != 0);
  SessionOptions both = with_toy();
  both.plugins = {SX_LOOPBACK, SX_TOY};
  both.providers = {"toy", "loopback"};
  auto session = session_of("residual_20", both);
  const ModelCase c = load_case("residual_20", *session);
  CHECK(worst_error(run_all(*session, c.inputs), c.expected) < 1e-4);
}

TEST_CASE("a library that is no good plugin says why") {
  auto text_of = [](const std::string& path) {
    auto loaded = load_plugin(path);
    return loaded.ok() ? std::string() : loaded.status().to_string();
  };
  auto contains = [](const std::string& text, const std::string& part) {
    INFO(text);
    CHECK(text.find(part) != std::string::npos);
  };
  contains(text_of("nowhere/no.so"), "plugin 'nowhere/no.so': cannot be opened");
  contains(text_of("models/digits/digits.onnx"), "cannot be opened");
  contains(text_of("no.so"), "no.so");
  void* library = dlopen(SX_BAD_PLUGIN, RTLD_NOW | RTLD_LOCAL);
  REQUIRE(library);
  auto mode = reinterpret_cast<void (*)(int)>(dlsym(library, "bad_plugin_mode"));
  const char* expected[] = {"this machine has none of our devices",
                            "sx_plugin_open failed",
                            "speaks version 99 of the tables, expected 1",
                            "its sx_plugin has 8 bytes",
                            "has 0 providers",
                            "an sx_provider of 16 bytes",
                            "a provider has no name",
                            "provider 'bad' has no compile",
                            "the sx_memory of provider 'bad'"};
  for (int m = 0; m < 9; ++m) {
    mode(m);
    contains(text_of(SX_BAD_PLUGIN), expected[m]);
  }
  mode(9);
  SessionOptions options;
  options.plugins = {SX_BAD_PLUGIN};
  auto session = Session::load(model_path("digits"), options);
  REQUIRE(!session.ok());
  contains(session.status().to_string(), "compile said yes and returned no kernel");
  dlclose(library);
}
