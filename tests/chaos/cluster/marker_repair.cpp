#include "tests/chaos/cluster/marker_repair.h"

#include <algorithm>
#include <cstdint>
#include <fstream>
#include <iterator>
#include <map>
#include <string_view>
#include <utility>

#include "tests/chaos/cluster/txn_markers.h"

namespace reseq::chaos {

namespace {

constexpr std::chrono::seconds kPatience{20};
constexpr std::chrono::milliseconds kAnswer{2'000};

std::string names(const std::vector<NamedPartition>& partitions) {
  std::string list;
  for (const NamedPartition& one : partitions)
    list += (list.empty() ? "" : ",") + one.topic + "-" + std::to_string(one.partition);
  return list;
}

}  // namespace

void MarkerRepair::read() {
  std::ifstream file(log_file_, std::ios::binary);
  if (!file) return;
  file.seekg(0, std::ios::end);
  if (file.tellg() < offset_) offset_ = 0;  // script/kafka has begun it anew
  file.seekg(offset_);
  const std::string bytes((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  std::string_view rest = bytes;
  for (std::size_t end = rest.find('\n'); end != std::string_view::npos; end = rest.find('\n')) {
    skipped_.read(rest.substr(0, end));
    rest.remove_prefix(end + 1);
  }
  offset_ += static_cast<std::streamoff>(bytes.size() - rest.size());
}

std::string MarkerRepair::text(const Skipped& skipped, const std::vector<NamedPartition>& partitions) const {
  std::string line = "broker=" + std::to_string(broker_) + " transaction=" + skipped.transactional_id;
  if (const auto& decision = skipped.decision)
    line += std::string(" decision=") + (decision->commit ? "COMMIT" : "ABORT") +
            " producer=" + std::to_string(decision->producer_id) +
            " epoch=" + std::to_string(decision->producer_epoch) +
            " coordinator_epoch=" + std::to_string(decision->coordinator_epoch);
  return line + " partitions=" + names(partitions);
}

// Keeps the partitions that have to be tried again, unless the log says next that the coordinator sends them itself.
void MarkerRepair::write(Skipped& skipped, const LeaderPort& leader_port, MarkerNews& news) {
  std::map<std::uint16_t, std::vector<NamedPartition>> by_leader;
  for (const NamedPartition& one : std::exchange(skipped.partitions, {})) by_leader[leader_port(one)].push_back(one);
  std::vector<NamedPartition> written;
  for (const auto& [port, partitions] : by_leader) {
    std::vector<std::int16_t> errors(partitions.size(), -1);
    if (port != 0) errors = write_markers(port, *skipped.decision, partitions, kAnswer);
    for (std::size_t i = 0; i < partitions.size(); ++i) {
      const MarkerResult result = marker_result(errors[i]);
      if (result == MarkerResult::kWritten) written.push_back(partitions[i]);
      if (result == MarkerResult::kLater) skipped.partitions.push_back(partitions[i]);
      if (result == MarkerResult::kFenced)
        news.wrong.push_back("a newer epoch has ended a transaction whose markers the broker skipped: " +
                             text(skipped, {partitions[i]}));
      if (result == MarkerResult::kRefused)
        news.wrong.push_back("a marker that the broker skipped is refused with error " + std::to_string(errors[i]) +
                             ": " + text(skipped, {partitions[i]}));
    }
  }
  if (!written.empty()) news.healed.push_back("healed markers skipped by the broker: " + text(skipped, written));
}

bool MarkerRepair::heal(const LeaderPort& leader_port, MarkerNews& news) {
  read();
  const auto now = Clock::now();
  if (!until_) until_ = now + kPatience;
  for (Skipped& one : skipped_.take()) {
    if (one.left_to_next && !alone_) continue;
    if (!one.decision) {
      news.wrong.push_back("the broker skipped markers and does not say which: " + text(one, one.partitions));
      continue;
    }
    write(one, leader_port, news);
    if (one.partitions.empty()) continue;
    if (now < *until_)
      skipped_.put_back(std::move(one));
    else
      news.wrong.push_back("markers that the broker skipped could not be written: " + text(one, one.partitions));
  }
  if (!skipped_.all().empty()) return false;
  until_.reset();
  skipped_.forget_decisions();
  return true;
}

void MarkerRepair::give_up(MarkerNews& news) {
  read();
  for (const Skipped& one : skipped_.take()) {
    if (one.left_to_next) continue;
    news.wrong.push_back((one.decision ? "the broker skipped markers while clients could go on: "
                                       : "the broker skipped markers and does not say which: ") +
                         text(one, one.partitions));
  }
  skipped_.forget_decisions();
}

void MarkerRepair::begin_life() {
  read();
  offset_ = 0;
  until_.reset();
  skipped_.forget_decisions();
}

}  // namespace reseq::chaos
