// Instants as text: RFC 3339 with a zone, strictly. "T" and "Z" may be lower case, nothing else may stand between date
// and time; a fraction has 1 .. 9 digits; the offset is Z or +hh:mm / -hh:mm, hh <= 23, mm <= 59. Leap seconds (":60")
// are no instants: they would share their number with the second behind them. No locale, no clock.
//
// The range is that of int64 nanoseconds: 1677-09-21T00:12:43.145224192Z .. 2262-04-11T23:47:16.854775807Z.
// Thread rule: any thread.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace reseq::codec {

// Nanoseconds since 1970; empty when the text is no such instant.
[[nodiscard]] std::optional<std::int64_t> parse_timestamp(std::string_view text);
// Milliseconds since 1970 of a date in a header: a number of them, or such an instant, of which what is below a
// millisecond is cut off. Within the same range, and not before 1970.
[[nodiscard]] std::optional<std::int64_t> parse_date_ms(std::string_view text);
// In UTC, with as many fraction digits as are needed.
[[nodiscard]] std::string format_timestamp(std::int64_t nanoseconds);
// Likewise of milliseconds, always with three fraction digits.
[[nodiscard]] std::string format_timestamp_ms(std::int64_t milliseconds);

}  // namespace reseq::codec
