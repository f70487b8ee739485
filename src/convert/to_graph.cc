// SPDX-License-Identifier: Apache-2.0
#include "convert/import.h"

namespace sx {

Result<Graph> to_graph(const onnx::Model& model, const ConvertOptions& options) {
  return convert::Importer(model, options).run();
}

int newest_opset(std::string_view domain) {
  if (domain.empty()) return 28;
  if (domain == "ai.onnx.ml") return 5;
  return domain == "sx" || domain == "sx.legacy" ? 1 : 0;
}

}  // namespace sx
