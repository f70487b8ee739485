// SPDX-License-Identifier: Apache-2.0
// The native half of InferenceSession: loads a model, and runs it on numpy arrays without the GIL.
#pragma once
#include <nanobind/nanobind.h>

#include <memory>
#include <string>
#include <vector>

#include "onnx/model.h"
#include "runtime/session.h"

namespace sx::python {

// What Python's SessionOptions come to.
struct Settings {
  SessionOptions options;
  nanobind::object log;  // called with level and message; None: nobody listens
};
Settings settings_of(nanobind::dict kwargs);

// Stops the runs that it is given to, from any thread.
class RunControl {
 public:
  bool terminate() const { return cancel_->requested(); }
  void set_terminate(bool stop);
  double timeout = 0;       // seconds; 0: none
  size_t memory_limit = 0;  // bytes; 0: the session's
  std::shared_ptr<Cancel> cancel() const { return cancel_; }

 private:
  std::shared_ptr<Cancel> cancel_ = std::make_shared<Cancel>();
};

struct Argument {
  nanobind::object name;   // the text itself, interned
  nanobind::object type;   // "tensor(float)"
  nanobind::object shape;  // a list of numbers, names and None
  nanobind::object text;   // "float32[batch, 3]"
};

class NativeSession {
 public:
  // `source` is a path (str) or the model itself (bytes).
  NativeSession(nanobind::object source, nanobind::dict settings);

  nanobind::object run(nanobind::object output_names, nanobind::object input_feed,
                       nanobind::object run_options);
  nanobind::list arguments(bool inputs) const;  // tuples (name, type, shape, text)
  nanobind::dict metadata() const { return metadata_; }
  nanobind::list providers() const;
  nanobind::dict describe() const;

 private:
  static void log_to_python(void* self, LogLevel level, std::string_view message);
  void read_metadata(const onnx::Model& model);
  std::vector<size_t> wanted(PyObject* names, PyObject* feed);
  [[noreturn]] void complain(PyObject* names, PyObject* feed);

  std::unique_ptr<Session> session_;
  nanobind::object log_;
  std::vector<Argument> inputs_, outputs_;
  nanobind::dict metadata_;
};

}  // namespace sx::python
