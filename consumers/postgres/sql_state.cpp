#include "consumers/postgres/sql_state.h"

#include <algorithm>
#include <array>

namespace reseq::postgres {
namespace {

template <std::size_t kCount>
bool begins_with_one_of(std::string_view state, const std::array<std::string_view, kCount>& beginnings) {
  return std::any_of(beginnings.begin(), beginnings.end(),
                     [&](std::string_view beginning) { return state.starts_with(beginning); });
}

// A trigger may raise any state. Classes that begin with 5 to 9 or I to Z belong to nobody in SQL; those that
// PostgreSQL has taken are its own, the rest are those of its users.
bool is_of_users(std::string_view state) {
  constexpr std::array<std::string_view, 8> kOfPostgres = {"53", "54", "55", "57", "58", "72", "P0", "XX"};
  if (state.empty() || begins_with_one_of(state, kOfPostgres)) return false;
  return (state[0] >= '5' && state[0] <= '9') || (state[0] >= 'I' && state[0] <= 'Z');
}

}  // namespace

std::string state_of(int code) {
  if (code == 0) return {};
  std::string state(5, '0');
  for (std::size_t i = state.size(); i-- > 0; code /= 36) {
    const int digit = code % 36;
    state[i] = static_cast<char>(digit < 10 ? '0' + digit : 'A' + digit - 10);
  }
  return state;
}

std::string_view state_within(std::string_view message) {
  constexpr std::string_view kBefore = ":  ";
  for (std::size_t at = message.find(kBefore); at != std::string_view::npos; at = message.find(kBefore, at + 1)) {
    const std::string_view rest = message.substr(at + kBefore.size());
    if (rest.size() > 5 && rest[5] == ':' && state_code(rest.substr(0, 5)) != 0) return rest.substr(0, 5);
  }
  return {};
}

bool is_about_data(std::string_view state) {
  constexpr std::array<std::string_view, 8> kData = {
      "22",     // data exception
      "23",     // integrity constraint
      "44000",  // check option of a view
      "54",     // program limit: an id too long for the index, a row too long for a page, JSON that is nested too deep
      "42601",  // syntax, of a value: ltree, tsquery, jsonpath. Ours was tried before
      "P0",     // raised by a trigger
      "38",     // the same, of one in PL/Python, PL/Perl or PL/Tcl, whatever is raised there
      "45",     // the same, in a class that PostgreSQL does not use and other databases have for it
  };
  return begins_with_one_of(state, kData) || is_of_users(state);
}

ErrorClass class_of(std::string_view state) {
  constexpr std::array<std::string_view, 10> kPasses = {
      "08",     // connection
      "25",     // transaction state: a standby refuses to write, an idle transaction was ended
      "40",     // rolled back: deadlock
      "53",     // resources: disk full, too many connections
      "55P03",  // a lock was not available
      "55006",  // in use
      "57",     // an administrator or a restart
      "58",     // system: input and output
      "72",     // snapshot too old
      "XX",     // internal: told, and tried again
  };
  // Without a state it comes from libpq: the connection.
  return state.empty() || begins_with_one_of(state, kPasses) ? ErrorClass::kRetriable : ErrorClass::kInvalid;
}

}  // namespace reseq::postgres
