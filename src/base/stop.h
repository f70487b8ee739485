// SPDX-License-Identifier: Apache-2.0
// The one question of a long loop, without the rest of task.h: also for *.simd.cc files.
#pragma once

namespace sx {

// Whether somebody asked this thread's work to end. Once true it stays true, so a loop may simply leave with
// its work half done: whoever started it asks check_stop() before using the result.
bool stop_requested();

}  // namespace sx
