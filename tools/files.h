// SPDX-License-Identifier: Apache-2.0
// Is a file there that somebody named? If not, an error that leads on: the nearest name, or what is there.
#pragma once
#include <string>

#include "base/result.h"

namespace sx::tools {

// `model`: a folder in its place names the models in it. `or_folder`: a folder will do.
Status check_path(const std::string& path, bool model, bool or_folder);

}  // namespace sx::tools
