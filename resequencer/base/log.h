// Log lines: key=value, at the edges only, outside text escaped and capped. spdlog writes them.
// Thread rule: any thread.
#pragma once

#include <spdlog/spdlog.h>
#include <string>
#include <string_view>

namespace reseq::log {

enum class Format : unsigned char { kText, kJson };

// "json" or anything else.
[[nodiscard]] Format format_of(std::string_view name);

// Sets level ("debug", "info", "warning", "error") and format of the process's log on stderr.
void open(std::string_view level, Format format = Format::kText);

// What a program ends with: "PROGRAM: MESSAGE" on stderr, or a line of JSON when that is the format of the log. MESSAGE
// may be any bytes.
void say_last(std::string_view program, std::string_view message);

// From now on `text` is shown as asterisks wherever it stands in outside text, as in the debug lines and error texts of
// librdkafka. What is shorter than 4 bytes could not be told from ordinary words and is not hidden. Call before any
// thread is started.
void hide_secret(std::string text);

// Text from outside (topics, ids, broker messages) on its way into a log line: printable ASCII stays, everything else
// becomes \xHH, quotes are escaped, and what is longer than 256 bytes is cut with its length.
[[nodiscard]] std::string outside(std::string_view text);

// A whole line for people, as the error that ends a command, whatever outside text its parts came from: printable ASCII
// stays, everything else becomes \xHH. No quotes, no cap.
[[nodiscard]] std::string one_line(std::string_view text);

}  // namespace reseq::log
