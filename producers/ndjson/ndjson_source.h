// NdjsonSource: lines of JSON from a file or standard input as a stream of changes. Line by line, in order; an empty
// line is passed over.
// Invariant: memory is bounded by the longest line that is allowed.
// Thread rule: one thread.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "producers/sending/change_source.h"

namespace reseq::ndjson {

struct NdjsonOptions {
  std::vector<std::string> targets = {};  // of lines without "targets"
  std::optional<Epoch> epoch = {};        // of lines without "epoch"
  std::size_t line_bytes_max = std::size_t{64} << 20;
};

class NdjsonSource final : public sending::ChangeSource {
 public:
  // `path` "-" is standard input. kInvalid: it cannot be read.
  [[nodiscard]] static Result<std::unique_ptr<NdjsonSource>> open(const std::string& path, NdjsonOptions options);
  ~NdjsonSource() override;

  [[nodiscard]] std::string stream() const override;
  Result<> resume_after(const sending::Mark& mark) override;
  Result<std::optional<sending::Item>> next() override;
  [[nodiscard]] sending::Mark mark() const override;
  [[nodiscard]] std::string place() const override { return "line " + std::to_string(line_); }
  [[nodiscard]] std::optional<std::uint64_t> items_to_come() const override { return items_; }

 private:
  NdjsonSource(int file, NdjsonOptions options) : file_(file), options_(std::move(options)) {}

  struct Line {
    std::string_view text;  // valid until the next line is read
    bool too_long = false;
  };
  Result<std::optional<Line>> next_line();
  Result<> fill();
  Result<> count_lines();

  int file_;
  NdjsonOptions options_;
  std::string buffer_;
  std::size_t begin_ = 0;     // of the line that comes next
  std::size_t searched_ = 0;  // bytes behind begin_ without a line end
  bool dropping_ = false;     // inside a line that is too long
  bool ended_ = false;
  std::uint64_t line_ = 0;  // lines read, empty ones too
  std::string token_;       // hash of the last line
  std::optional<std::uint64_t> items_;
};

}  // namespace reseq::ndjson
