// What an error of the server means for a batch.
#include "consumers/postgres/sql_state.h"

#include <gtest/gtest.h>
#include <string>
#include <tuple>
#include <vector>

namespace reseq::postgres {
namespace {

TEST(SqlState, IsANumberAndBack) {
  for (const std::string state : {"22P02", "00000", "ZZZZZ", "57P01"})
    EXPECT_EQ(state_of(state_code(state)), state == "00000" ? "" : state);
  EXPECT_EQ(state_code("22p02"), 0);
  EXPECT_EQ(state_code("22P0"), 0);
}

TEST(SqlState, TellsDataFromTroubleOfTheServer) {
  using Case = std::tuple<const char*, bool, ErrorClass>;
  const std::vector<Case> cases = {
      {"22P02", true, ErrorClass::kInvalid},     // not JSON
      {"22021", true, ErrorClass::kInvalid},     // not UTF-8
      {"23514", true, ErrorClass::kInvalid},     // a CHECK
      {"54000", true, ErrorClass::kInvalid},     // an id too long for the index
      {"54001", true, ErrorClass::kInvalid},     // JSON that is nested too deep
      {"42601", true, ErrorClass::kInvalid},     // no tsquery
      {"P0001", true, ErrorClass::kInvalid},     // a trigger
      {"45000", true, ErrorClass::kInvalid},     // a trigger, with a state of its own
      {"U0001", true, ErrorClass::kInvalid},     // another
      {"99999", true, ErrorClass::kInvalid},     // another
      {"38000", true, ErrorClass::kInvalid},     // a trigger in Python, Perl or Tcl
      {"XX000", false, ErrorClass::kRetriable},  // internal
      {"72000", false, ErrorClass::kRetriable},  // snapshot too old
      {"HV000", false, ErrorClass::kInvalid},    // a foreign table
      {"F0000", false, ErrorClass::kInvalid},    // a file of its configuration
      {"42P01", false, ErrorClass::kInvalid},    // no such table
      {"42501", false, ErrorClass::kInvalid},    // no right
      {"28P01", false, ErrorClass::kInvalid},    // wrong password
      {"53100", false, ErrorClass::kRetriable},  // disk full
      {"53300", false, ErrorClass::kRetriable},  // too many connections
      {"57P01", false, ErrorClass::kRetriable},  // shut down
      {"57P03", false, ErrorClass::kRetriable},  // starting up
      {"40P01", false, ErrorClass::kRetriable},  // deadlock
      {"55P03", false, ErrorClass::kRetriable},  // lock
      {"25006", false, ErrorClass::kRetriable},  // a standby
      {"", false, ErrorClass::kRetriable},       // no word from the server
  };
  for (const auto& [state, is_data, what_to_do] : cases) {
    EXPECT_EQ(is_about_data(state), is_data) << state;
    if (!is_data) {
      EXPECT_EQ(class_of(state), what_to_do) << state;
    }
  }
}

TEST(SqlState, IsFoundInTheMessageOfAFailedConnection) {
  EXPECT_EQ(state_within("connection to server at \"127.0.0.1\", port 1 failed: FATAL:  28P01: password authentication "
                         "failed for user \"a\" LOCATION:  auth_failed, auth.c:326"),
            "28P01");
  EXPECT_EQ(state_within("connection to server at \"127.0.0.1\", port 1 failed: Connection refused"), "");
}

}  // namespace
}  // namespace reseq::postgres
