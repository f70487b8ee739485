// SPDX-License-Identifier: Apache-2.0
#include "base/result.h"

namespace sx {

namespace {
const std::string kEmpty;
const std::vector<std::string> kNoContext;
}  // namespace

std::string_view code_name(Code code) {
  switch (code) {
    case Code::ok: return "ok";
    case Code::invalid_argument: return "invalid argument";
    case Code::invalid_model: return "invalid model";
    case Code::not_found: return "not found";
    case Code::unsupported: return "unsupported";
    case Code::io: return "input/output";
    case Code::cancelled: return "cancelled";
    case Code::deadline: return "deadline exceeded";
    case Code::out_of_memory: return "out of memory";
    case Code::internal: return "internal error";
  }
  return "unknown";
}

Status::Status(Code code, std::string message)
    : detail_(std::make_shared<Detail>(Detail{code, std::move(message), {}, {}})) {}

const std::string& Status::message() const { return detail_ ? detail_->message : kEmpty; }
const std::vector<std::string>& Status::context() const { return detail_ ? detail_->context : kNoContext; }
const std::string& Status::advice() const { return detail_ ? detail_->advice : kEmpty; }

std::string Status::to_string() const {
  if (ok()) return "ok";
  std::string text;
  for (auto it = detail_->context.rbegin(); it != detail_->context.rend(); ++it) text += *it + ": ";
  text += detail_->message;
  if (!detail_->advice.empty()) text += "\n" + detail_->advice;
  return text;
}

Status&& Status::in(std::string context) && {
  if (detail_) detail_->context.push_back(std::move(context));
  return std::move(*this);
}

Status&& Status::advise(std::string advice) && {
  if (detail_) {
    if (!detail_->advice.empty()) detail_->advice += "\n";
    detail_->advice += advice;
  }
  return std::move(*this);
}

}  // namespace sx
