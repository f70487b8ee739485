// SPDX-License-Identifier: Apache-2.0
// Python's signal handlers run in the main thread only, and only with the GIL: long work without it looks in
// now and then.
#pragma once
#include <nanobind/nanobind.h>

namespace sx::python {

// For Cancel::set_poll: true when a handler raised, as Ctrl-C does. The exception waits in this thread's
// state.
inline bool poll_signals(void*) {
  const PyGILState_STATE state = PyGILState_Ensure();
  const bool raised = PyErr_CheckSignals() != 0;
  PyGILState_Release(state);
  return raised;
}

}  // namespace sx::python
