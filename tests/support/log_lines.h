// What the program under test logs while this lives, instead of where it would have gone.
// Thread rule: constructed and destroyed while nobody logs; any thread may log in between.
#pragma once

#include <memory>
#include <spdlog/sinks/ostream_sink.h>
#include <spdlog/spdlog.h>
#include <sstream>
#include <string>

#include "tests/support/count_of.h"

namespace reseq::test {

class LogLines {
 public:
  LogLines() : before_(spdlog::default_logger()) {
    auto to_text = std::make_shared<spdlog::logger>("test", std::make_shared<spdlog::sinks::ostream_sink_mt>(text_));
    spdlog::set_default_logger(std::move(to_text));
  }
  ~LogLines() { spdlog::set_default_logger(before_); }
  LogLines(const LogLines&) = delete;
  LogLines& operator=(const LogLines&) = delete;

  [[nodiscard]] std::string text() const { return text_.str(); }
  // Lines that hold these words.
  [[nodiscard]] int count(const std::string& words) const { return lines_with(text_.str(), words); }

 private:
  std::ostringstream text_;
  std::shared_ptr<spdlog::logger> before_;
};

}  // namespace reseq::test
