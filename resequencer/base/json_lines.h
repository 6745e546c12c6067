// JsonLines: a log line as one JSON object. `time` and `level` as in a line of text, `message` is what would stand
// behind them, and `fields` holds its words of the form name=value: a value ends at the next space, or is in quotes.
// Invariant: one line, valid JSON and ASCII, whatever bytes the message has.
// Thread rule: one thread at a time, as of any formatter of spdlog.
#pragma once

#include <memory>
#include <spdlog/pattern_formatter.h>

namespace reseq::log {

class JsonLines final : public spdlog::formatter {
 public:
  JsonLines();
  void format(const spdlog::details::log_msg& line, spdlog::memory_buf_t& out) override;
  [[nodiscard]] std::unique_ptr<spdlog::formatter> clone() const override;

 private:
  spdlog::pattern_formatter head_;
};

}  // namespace reseq::log
