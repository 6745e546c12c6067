#include "tests/chaos/cluster/deposed_coordinators.h"

#include <algorithm>
#include <charconv>
#include <optional>
#include <system_error>

namespace reseq::chaos {

namespace {

constexpr std::size_t kTimeBytes = 23;  // 2026-11-23 08:50:39,594

// What stands behind `begin`, up to the number behind `between` included: both numbers. Nothing: it is not there.
std::optional<std::pair<std::int32_t, std::int32_t>> two_numbers(std::string_view line, std::string_view begin,
                                                                 std::string_view between) {
  const std::size_t from = line.find(begin);
  if (from == std::string_view::npos) return std::nullopt;
  const char* const end = line.data() + line.size();
  std::pair<std::int32_t, std::int32_t> numbers;
  const auto first = std::from_chars(line.data() + from + begin.size(), end, numbers.first);
  if (first.ec != std::errc()) return std::nullopt;
  const std::string_view rest(first.ptr, static_cast<std::size_t>(end - first.ptr));
  if (!rest.starts_with(between)) return std::nullopt;
  const auto second = std::from_chars(rest.data() + between.size(), end, numbers.second);
  return second.ec == std::errc() ? std::optional(numbers) : std::nullopt;
}

}  // namespace

void DeposedCoordinators::read(std::string_view log) {
  std::pair<std::int32_t, std::int32_t> loading{-1, -1};  // partition and term, one after the other
  for (std::size_t end = log.find('\n'); end != std::string_view::npos; end = log.find('\n')) {
    if (end > kTimeBytes) read_line(log.substr(0, end), loading);
    log.remove_prefix(end + 1);
  }
}

void DeposedCoordinators::read_line(std::string_view line, std::pair<std::int32_t, std::int32_t>& loading) {
  constexpr std::string_view kSending = "Sending txn markers for TransactionalIdCoordinatorEpochAndTransitMetadata(";
  const std::string time(line.substr(0, kTimeBytes));
  if (const auto begun = two_numbers(line, ": Loading transaction metadata from __transaction_state-", " at epoch "))
    loading = *begun;
  else if (const auto done = two_numbers(line, "Completed loading transaction metadata from __transaction_state-",
                                         " for coordinator epoch "))
    terms_[done->first].push_back({.since = time, .epoch = done->second});
  else if (const std::size_t from = line.find(kSending); from != std::string_view::npos) {
    const std::string_view what = line.substr(from + kSending.size());
    sent_.push_back({.at = time,
                     .transaction = std::string(what.substr(0, what.find(",TransactionMetadata("))),
                     .partition = loading.first,
                     .epoch = loading.second});
  }
}

std::vector<std::string> DeposedCoordinators::proofs() const {
  std::vector<std::string> proofs;
  for (const Sent& sent : sent_) {
    const auto terms = terms_.find(sent.partition);
    if (terms == terms_.end()) continue;
    const auto higher = std::find_if(terms->second.begin(), terms->second.end(),
                                     [&](const Term& term) { return term.epoch > sent.epoch && term.since < sent.at; });
    if (higher == terms->second.end()) continue;
    proofs.push_back("a deposed coordinator sent markers of (" + sent.transaction + ") at " + sent.at +
                     ": __transaction_state-" + std::to_string(sent.partition) + " had term " +
                     std::to_string(higher->epoch) + " since " + higher->since);
  }
  return proofs;
}

}  // namespace reseq::chaos
