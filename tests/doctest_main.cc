// SPDX-License-Identifier: Apache-2.0
// The main function that every unit-test executable shares.
#define DOCTEST_CONFIG_IMPLEMENT_WITH_MAIN
#include <doctest/doctest.h>
