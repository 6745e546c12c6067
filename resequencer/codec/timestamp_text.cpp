#include "codec/timestamp_text.h"

#include <algorithm>

#include "codec/decimal.h"

namespace reseq::codec {
namespace {

constexpr std::int64_t kNsPerSecond = 1'000'000'000;
constexpr std::int64_t kSecondsPerDay = 86'400;
constexpr int kFractionDigitsMax = 9;

// Days since 1970-01-01 in the proleptic Gregorian calendar, by counting years of 365.2425 days from March on.
std::int64_t days_of(std::int64_t year, std::int64_t month, std::int64_t day) {
  const std::int64_t from_march = month > 2 ? month - 3 : month + 9;
  const std::int64_t march_year = month > 2 ? year : year - 1;
  const std::int64_t cycle = (march_year >= 0 ? march_year : march_year - 399) / 400;
  const std::int64_t year_of_cycle = march_year - cycle * 400;
  const std::int64_t day_of_year = (153 * from_march + 2) / 5 + day - 1;
  const std::int64_t day_of_cycle = year_of_cycle * 365 + year_of_cycle / 4 - year_of_cycle / 100 + day_of_year;
  return cycle * 146'097 + day_of_cycle - 719'468;
}

bool is_leap(std::int64_t year) {
  return (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;
}

std::int64_t days_in(std::int64_t year, std::int64_t month) {
  if (month == 2) return is_leap(year) ? 29 : 28;
  return month == 4 || month == 6 || month == 9 || month == 11 ? 30 : 31;
}

// Reads from the front of a text; the first thing that does not fit makes it fail for good.
class Scanner {
 public:
  explicit Scanner(std::string_view text) : rest_(text) {}

  // A number of exactly `digits` digits, `least` .. `most`.
  std::int64_t number(int digits, std::int64_t least, std::int64_t most) {
    std::int64_t value = 0;
    for (int i = 0; i < digits; ++i) value = value * 10 + digit();
    ok_ = ok_ && value >= least && value <= most;
    return value;
  }

  // Nanoseconds of a fraction, 0 when there is none.
  std::int64_t fraction() {
    if (!accept('.')) return 0;
    std::int64_t value = 0;
    int digits = 0;
    while (digits < kFractionDigitsMax && at_digit()) {
      value = value * 10 + digit();
      ++digits;
    }
    ok_ = ok_ && digits > 0;
    for (; digits < kFractionDigitsMax; ++digits) value *= 10;
    return value;
  }

  bool accept(char c) {
    if (rest_.empty() || rest_.front() != c) return false;
    rest_.remove_prefix(1);
    return true;
  }
  void expect(char c) { ok_ = accept(c) && ok_; }
  void expect_one_of(char a, char b) { ok_ = (accept(a) || accept(b)) && ok_; }

  [[nodiscard]] bool done() const { return ok_ && rest_.empty(); }

 private:
  [[nodiscard]] bool at_digit() const { return !rest_.empty() && rest_.front() >= '0' && rest_.front() <= '9'; }
  std::int64_t digit() {
    if (!at_digit()) {
      ok_ = false;
      return 0;
    }
    const std::int64_t value = rest_.front() - '0';
    rest_.remove_prefix(1);
    return value;
  }

  std::string_view rest_;
  bool ok_ = true;
};

// Seconds to add to get UTC.
std::int64_t scan_zone(Scanner& scan) {
  if (scan.accept('Z') || scan.accept('z')) return 0;
  const bool east = scan.accept('+');
  if (!east) scan.expect('-');
  const std::int64_t hours = scan.number(2, 0, 23);
  scan.expect(':');
  const std::int64_t seconds = (hours * 60 + scan.number(2, 0, 59)) * 60;
  return east ? -seconds : seconds;
}

// Empty when the sum does not fit.
std::optional<std::int64_t> nanoseconds_of(std::int64_t seconds, std::int64_t nanoseconds) {
  // Before 1970 from the second above, so that the product alone cannot overflow where the sum does not.
  if (seconds < 0) {
    ++seconds;
    nanoseconds -= kNsPerSecond;
  }
  std::int64_t total = 0;
  if (__builtin_mul_overflow(seconds, kNsPerSecond, &total)) return std::nullopt;
  if (__builtin_add_overflow(total, nanoseconds, &total)) return std::nullopt;
  return total;
}

void append_number(std::int64_t value, int digits, std::string& out) {
  std::int64_t unit = 1;
  for (int i = 1; i < digits; ++i) unit *= 10;
  for (; unit > 0; unit /= 10) out.push_back(static_cast<char>('0' + value / unit % 10));
}

void append_date(std::int64_t days, std::string& out) {
  const std::int64_t shifted = days + 719'468;
  const std::int64_t cycle = (shifted >= 0 ? shifted : shifted - 146'096) / 146'097;
  const std::int64_t day_of_cycle = shifted - cycle * 146'097;
  const std::int64_t year_of_cycle =
      (day_of_cycle - day_of_cycle / 1'460 + day_of_cycle / 36'524 - day_of_cycle / 146'096) / 365;
  const std::int64_t day_of_year = day_of_cycle - (365 * year_of_cycle + year_of_cycle / 4 - year_of_cycle / 100);
  const std::int64_t from_march = (5 * day_of_year + 2) / 153;
  const std::int64_t month = from_march < 10 ? from_march + 3 : from_march - 9;
  append_number(year_of_cycle + cycle * 400 + (month <= 2 ? 1 : 0), 4, out);
  out.push_back('-');
  append_number(month, 2, out);
  out.push_back('-');
  append_number(day_of_year - (153 * from_march + 2) / 5 + 1, 2, out);
}

}  // namespace

std::optional<std::int64_t> parse_timestamp(std::string_view text) {
  Scanner scan(text);
  const std::int64_t year = scan.number(4, 0, 9999);
  scan.expect('-');
  const std::int64_t month = scan.number(2, 1, 12);
  scan.expect('-');
  const std::int64_t day = scan.number(2, 1, days_in(year, month));
  scan.expect_one_of('T', 't');
  const std::int64_t hour = scan.number(2, 0, 23);
  scan.expect(':');
  const std::int64_t minute = scan.number(2, 0, 59);
  scan.expect(':');
  const std::int64_t second = scan.number(2, 0, 59);
  const std::int64_t fraction = scan.fraction();
  const std::int64_t zone = scan_zone(scan);
  if (!scan.done()) return std::nullopt;
  const std::int64_t seconds = days_of(year, month, day) * kSecondsPerDay + (hour * 60 + minute) * 60 + second + zone;
  return nanoseconds_of(seconds, fraction);
}

std::optional<std::int64_t> parse_date_ms(std::string_view text) {
  constexpr std::int64_t kNsPerMs = 1'000'000;
  if (const auto ms = parse_decimal<std::uint64_t>(text)) {
    if (*ms > static_cast<std::uint64_t>(INT64_MAX / kNsPerMs)) return std::nullopt;
    return static_cast<std::int64_t>(*ms);
  }
  const auto ns = parse_timestamp(text);
  if (!ns || *ns < 0) return std::nullopt;
  return *ns / kNsPerMs;
}

std::string format_timestamp(std::int64_t nanoseconds) {
  std::int64_t seconds = nanoseconds / kNsPerSecond;
  std::int64_t fraction = nanoseconds % kNsPerSecond;
  if (fraction < 0) {
    fraction += kNsPerSecond;
    --seconds;
  }
  std::int64_t days = seconds / kSecondsPerDay;
  std::int64_t second_of_day = seconds % kSecondsPerDay;
  if (second_of_day < 0) {
    second_of_day += kSecondsPerDay;
    --days;
  }
  std::string out;
  append_date(days, out);
  out.push_back('T');
  append_number(second_of_day / 3600, 2, out);
  out.push_back(':');
  append_number(second_of_day / 60 % 60, 2, out);
  out.push_back(':');
  append_number(second_of_day % 60, 2, out);
  if (fraction != 0) {
    out.push_back('.');
    append_number(fraction, kFractionDigitsMax, out);
    out.erase(out.find_last_not_of('0') + 1);
  }
  out.push_back('Z');
  return out;
}

std::string format_timestamp_ms(std::int64_t milliseconds) {
  constexpr std::int64_t kNanoseconds = 1'000'000;  // of a millisecond
  constexpr std::size_t kDigits = 3;
  std::string text = format_timestamp(std::min(milliseconds, INT64_MAX / kNanoseconds) * kNanoseconds);
  text.pop_back();  // Z
  const std::size_t point = text.find('.');
  if (point == std::string::npos) return text + ".000Z";
  text.append(point + 1 + kDigits - text.size(), '0');
  return text + "Z";
}

}  // namespace reseq::codec
