// SPDX-License-Identifier: Apache-2.0
#include "model_file.h"

#include <cstdio>

#include "base/format.h"
#include "base/output_file.h"
#include "json.h"
#include "onnx/read.h"
#include "signals.h"
#include "terminal.h"

namespace sx::tools {

Result<std::shared_ptr<const MappedFile>> open_file(const std::string& path) {
  if (path != "-") return MappedFile::open(path);
  std::string all;
  char block[1 << 16];
  for (size_t n; (n = std::fread(block, 1, sizeof block, stdin)) > 0;) all.append(block, n);
  if (std::ferror(stdin)) return error(Code::io, "cannot read standard input");
  return MappedFile::from_bytes("standard input", all.data(), all.size());
}

Result<std::shared_ptr<onnx::Model>> open_model(const std::string& path) {
  if (path != "-") return onnx::read_model(path);
  SX_ASSIGN(std::shared_ptr<const MappedFile> file, open_file(path));
  return onnx::read_model(std::move(file), ".");
}

std::unique_ptr<Busy> busy_writing(Terminal& out, const onnx::Model& model, const std::string& path) {
  if (!out.shows_progress()) return nullptr;
  uint64_t bytes = model.file ? model.file->bytes().size() : 0;
  for (const auto& f : onnx::external_files(model, false)) bytes += f.used;
  return std::make_unique<Busy>(out, "writing " + escaped(path), bytes);
}

Outcome writing_failed(const onnx::Model& model, Status status) {
  for (const auto& file : onnx::files_of(model)) {
    if (!file) continue;
    if (Status changed = file->check_unchanged(); !changed.ok()) return refuse(std::move(changed));
  }
  return fail(std::move(status));
}

Status save_text(const std::string& path, std::string_view text) {
  if (path == "-") {
    if (std::fwrite(text.data(), 1, text.size(), stdout) == text.size() && std::fflush(stdout) == 0)
      return {};
    return error(Code::io, "cannot write to standard output");
  }
  SX_ASSIGN(OutputFile file, OutputFile::create(path));
  SX_TRY(file.write(text));
  return file.commit();
}

void Target::add(Options& o) {
  o.value("-o,--output", "FILE", out, "the file to write; - for standard output").is(Takes::new_file);
  o.flag("--in-place", in_place, "change the model itself, quickly where the lengths of the texts allow")
      .not_with("--output");
}

Status Target::check() const {
  if (in_place || !out.empty()) return {};
  return error(Code::invalid_argument, "say where the result goes: -o FILE, or --in-place");
}

Result<Saved> Target::save(const onnx::Model& model, const std::string& from, Terminal& terminal) const {
  if (in_place) {
    if (from == "-") return error(Code::invalid_argument, "standard input cannot be changed in place");
    bool patched = false;
    {
      const HoldInterrupts hold;
      SX_ASSIGN(patched, onnx::patch_model(model));
    }
    if (!patched) {
      const auto busy = busy_writing(terminal, model, from);
      SX_TRY(onnx::write_model(model, from));
    }
    return Saved{from, patched, onnx::message_size<onnx::ModelProto>(model)};
  }
  if (out == "-") {
    SX_TRY(save_text(out, onnx::message_bytes<onnx::ModelProto>(model)));
    return Saved{out};
  }
  const auto busy = busy_writing(terminal, model, out);
  SX_ASSIGN(onnx::StoreReport report, onnx::store_model(model, out, {.allow_large = true}));
  return Saved{out, false, report.model_bytes, std::move(report.files)};
}

void Saved::tell(const Common& common, Terminal& out, const char* counted, size_t count) const {
  if (common.json && path != "-") {
    Json j;
    j.open_object().text("model", path).boolean("in_place", in_place).integer("bytes", int64_t(bytes));
    if (counted) j.integer(counted, int64_t(count));
    j.key("files").open_array();
    for (const auto& f : files) {
      j.open_object().text("location", f.location).integer("bytes", int64_t(f.bytes));
      j.integer("tensors", int64_t(f.tensors)).close_object();
    }
    out.line(j.close_array().close_object().str());
  }
  if (common.json || common.quiet) return;
  std::string text = counted ? format("{} {}", count, counted) : "";
  if (path != "-") {
    text += text.empty() ? "" : "; ";
    text += in_place ? format("changed {} in place", escaped(path))
                     : format("wrote {} ({})", escaped(path), bytes_text(double(bytes)));
  }
  if (!text.empty()) out.note(text);
  for (const auto& f : files) {
    out.note(
        format("      {} ({}, {} tensors)", escaped(f.location), bytes_text(double(f.bytes)), f.tensors));
  }
}

Result<std::pair<std::string, std::string>> split_pair(const std::string& text, const char* expected) {
  const size_t at = text.find('=');
  if (at == std::string::npos || at == 0) {
    return error(Code::invalid_argument, "expected {}, found '{}'", expected, escaped(text));
  }
  return std::pair(text.substr(0, at), text.substr(at + 1));
}

}  // namespace sx::tools
