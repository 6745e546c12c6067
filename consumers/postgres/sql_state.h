// SqlState: PostgreSQL's five letters that name an error, kept as a number in Error::code, and what they mean for a
// batch (https://www.postgresql.org/docs/current/errcodes-appendix.html).
// Thread rule: pure functions.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"

namespace reseq::postgres {

// Five letters or digits as a number; 0 for anything else.
[[nodiscard]] constexpr int state_code(std::string_view state) {
  if (state.size() != 5) return 0;
  int code = 0;
  for (const char letter : state) {
    const bool is_digit = letter >= '0' && letter <= '9';
    if (!is_digit && (letter < 'A' || letter > 'Z')) return 0;
    code = code * 36 + (is_digit ? letter - '0' : letter - 'A' + 10);
  }
  return code;
}

// The letters again; empty for 0.
[[nodiscard]] std::string state_of(int code);

// The state within a verbose message, as a failed connection has ("FATAL:  28P01: password ..."); empty: none.
[[nodiscard]] std::string_view state_within(std::string_view message);

// What the error is about is in a row: without that row the statement may go well. Also true of what is too large for
// an index or a row, and of what a trigger raises, also with a state that it has made up.
[[nodiscard]] bool is_about_data(std::string_view state);

// Everything that is not about data: kRetriable for what passes by itself (busy, restarting, out of disk, deadlock, a
// standby), kInvalid for what somebody has to mend (rights, tables, columns, passwords).
[[nodiscard]] ErrorClass class_of(std::string_view state);

}  // namespace reseq::postgres
