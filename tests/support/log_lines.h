// What the program under test logs while this lives, instead of where it would have gone.
// Thread rule: constructed and destroyed while nobody logs; any thread may log in between.
#pragma once

#include <memory>
#include <spdlog/sinks/ostream_sink.h>
#include <spdlog/spdlog.h>
#include <sstream>
#include <string>

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
  [[nodiscard]] int count(const std::string& words) const {
    int found = 0;
    std::istringstream lines(text_.str());
    for (std::string line; std::getline(lines, line);) found += line.find(words) != std::string::npos ? 1 : 0;
    return found;
  }

 private:
  std::ostringstream text_;
  std::shared_ptr<spdlog::logger> before_;
};

}  // namespace reseq::test
