// SPDX-License-Identifier: Apache-2.0
// Models of the repository with their test data, for tests that run sessions.
#pragma once
#include <string>
#include <vector>

#include "runtime/session.h"

namespace sx::testing {

struct ModelCase {
  std::string model;  // path of the file
  std::vector<Value> inputs, expected;
};

// models/digits, or build/test_models/NAME as tests/models/build.py makes it. Fails the test if it cannot be
// read.
ModelCase load_case(const std::string& name, const Session& session, int data_set = 0);
std::string model_path(const std::string& name);

// The largest difference relative to the largest |expected|; infinity where kinds, types or dims differ.
double worst_error(const std::vector<Value>& got, const std::vector<Value>& expected);
bool bit_equal(const std::vector<Value>& a, const std::vector<Value>& b);

std::vector<Value> run_all(Session& session, const std::vector<Value>& inputs);
// A session over ONNX text.
std::unique_ptr<Session> session_of_text(const std::string& text, SessionOptions options);
std::unique_ptr<Session> session_of(const std::string& name, SessionOptions options);
// Steady numbers in [-1, 1], the same every time.
Tensor numbers(Dims dims, uint32_t seed);

}  // namespace sx::testing
