#include "tests/chaos/cluster/deposed_coordinators.h"

#include <charconv>
#include <optional>
#include <system_error>

namespace reseq::chaos {

namespace {

constexpr std::size_t kTimeBytes = 23;  // 2026-11-23 08:50:39,594

// What stands behind the last `begin`. Nothing: it is not there.
std::optional<std::string_view> behind(std::string_view text, std::string_view begin) {
  const std::size_t from = text.rfind(begin);
  if (from == std::string_view::npos) return std::nullopt;
  return text.substr(from + begin.size());
}

// The number that a text begins with; `text` goes on behind it.
std::optional<std::int32_t> take_number(std::string_view& text) {
  std::int32_t number = 0;
  const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc()) return std::nullopt;
  text.remove_prefix(static_cast<std::size_t>(stop - text.data()));
  return number;
}

}  // namespace

void DeposedCoordinators::read(int broker, std::string_view log) {
  for (std::size_t end = log.find('\n'); end != std::string_view::npos; end = log.find('\n')) {
    if (end > kTimeBytes) read_line(broker, log.substr(0, end));
    log.remove_prefix(end + 1);
  }
}

void DeposedCoordinators::read_line(int broker, std::string_view line) {
  const std::string time(line.substr(0, kTimeBytes));
  if (auto loaded = behind(line, "Completed loading transaction metadata from __transaction_state-")) {
    const auto partition = take_number(*loaded);
    auto term = behind(*loaded, " for coordinator epoch ");
    const auto epoch = term ? take_number(*term) : std::nullopt;
    if (partition && epoch) terms_[*partition].push_back({.broker = broker, .since = time, .epoch = *epoch});
    return;
  }
  const auto sent = behind(line, "Sending txn markers for TransactionalIdCoordinatorEpochAndTransitMetadata(");
  if (!sent) return;
  const std::string_view transaction = sent->substr(0, sent->find(",TransactionMetadata("));
  auto term = behind(transaction.substr(0, transaction.rfind(',')), ",");
  auto place = behind(*sent, " after loading partition ");
  const auto epoch = term ? take_number(*term) : std::nullopt;
  const auto partition = place ? take_number(*place) : std::nullopt;
  if (!epoch || !partition) return;
  sent_.push_back({.broker = broker,
                   .at = time,
                   .transaction = std::string(transaction),
                   .partition = *partition,
                   .epoch = *epoch});
}

// The highest term that another broker had begun before: the same text in whatever order logs were read.
const DeposedCoordinators::Term* DeposedCoordinators::successor_of(const Sent& sent) const {
  const auto terms = terms_.find(sent.partition);
  if (terms == terms_.end()) return nullptr;
  const Term* highest = nullptr;
  for (const Term& term : terms->second) {
    if (term.broker == sent.broker || term.epoch <= sent.epoch || term.since >= sent.at) continue;
    if (highest == nullptr || term.epoch > highest->epoch) highest = &term;
  }
  return highest;
}

std::vector<std::string> DeposedCoordinators::proofs() const {
  std::vector<std::string> proofs;
  for (const Sent& sent : sent_) {
    const Term* successor = successor_of(sent);
    if (successor == nullptr) continue;
    proofs.push_back("broker " + std::to_string(sent.broker) + ", a deposed coordinator, sent markers of (" +
                     sent.transaction + ") at " + sent.at + ": __transaction_state-" + std::to_string(sent.partition) +
                     " had term " + std::to_string(successor->epoch) + " at broker " +
                     std::to_string(successor->broker) + " since " + successor->since);
  }
  return proofs;
}

}  // namespace reseq::chaos
