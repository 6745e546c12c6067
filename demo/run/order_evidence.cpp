#include "demo/run/order_evidence.h"

#include <initializer_list>

#include "demo/run/topic_reader.h"

namespace reseq::demo {
namespace {

constexpr const char* kGap = "gap";

VersionName name_of(const kafka::PlainRecord& record) {
  return {key_of(record), sequence_of(record)};
}

DocumentVersion version_of(const kafka::PlainRecord& record) {
  DocumentVersion version{.name = name_of(record)};
  if (record.payload) version.content = content_hash(*record.payload);
  return version;
}

}  // namespace

void OrderEvidence::add_request(const kafka::PlainRecord& record) {
  requests_.push_back(version_of(record));
  offsets_[requests_.back().name] = record.offset.value();
}

void OrderEvidence::add_command(const kafka::PlainRecord& record) {
  results_[std::string(header_of(record, "reseq-target"))].push_back(version_of(record));
}

void OrderEvidence::add_event(const kafka::PlainRecord& record) {
  if (record.payload) count_event(*record.payload, requests_topic_, outcomes_);
}

void OrderEvidence::add_dead_letter(const kafka::PlainRecord& record) {
  dead_letters_.push_back(dead_letter_of(record));
}

void OrderEvidence::add_output(const std::string& target, const kafka::PlainRecord& record) {
  const std::uint64_t version = number_of(header_of(record, "reseq-version"));
  std::uint64_t& last = last_version_[target];
  if (version <= last) ++falls_;
  last = version;
  released_[target].push_back(version_of(record));
}

std::vector<std::string> OrderEvidence::problems_of_gaps(const std::map<std::string, VersionNames>& lost) const {
  std::vector<std::string> problems;
  std::map<std::string, VersionNames> open = lost;
  for (const DeadLetter& letter : dead_letters_) {
    const VersionName name{letter.id, letter.sequence};
    const auto tell = [&](const std::string& what) {
      problems.push_back("dead letter of " + text_of(name) + ": " + what);
    };
    if (letter.reason != kGap || letter.targets.empty()) {
      tell(letter.reason);
      continue;
    }
    const auto place = offsets_.find(name);
    if (place == offsets_.end() || letter.source_topic != requests_topic_ || letter.source_offset != place->second)
      tell("its request stands elsewhere");
    for (const std::string& target : letter.targets) {
      if (open[target].erase(name) > 0) continue;
      const auto names = lost.find(target);
      const bool again = names != lost.end() && names->second.contains(name);
      tell(target + (again ? " skipped it once more" : " skipped it and it was not lost"));
    }
  }
  for (const auto& [target, names] : open)
    for (const VersionName& name : names)
      problems.push_back(text_of(name) + " was lost for " + target + ", and no dead letter says so");
  return problems;
}

std::map<std::string, std::uint64_t> OrderEvidence::skipped() const {
  std::map<std::string, std::uint64_t> skipped;
  for (const DeadLetter& letter : dead_letters_)
    if (letter.reason == kGap)
      for (const std::string& target : letter.targets) ++skipped[target];
  return skipped;
}

Result<OrderEvidence> OrderEvidence::read(const Settings& settings) {
  OrderEvidence evidence(settings.topic("requests"));
  using Take = void (OrderEvidence::*)(const kafka::PlainRecord&);
  for (const auto& [role, take] :
       std::initializer_list<std::pair<const char*, Take>>{{"requests", &OrderEvidence::add_request},
                                                           {"commands", &OrderEvidence::add_command},
                                                           {"events", &OrderEvidence::add_event},
                                                           {"dead-letter", &OrderEvidence::add_dead_letter}}) {
    Result<> read = read_topic(settings, settings.topic(role),
                               [&, add = take](const kafka::PlainRecord& record) { (evidence.*add)(record); });
    if (!read) return read.error();
  }
  for (const std::string& target : settings.ordered_targets()) {
    Result<> read = read_topic(settings, settings.output_topic(target),
                               [&](const kafka::PlainRecord& record) { evidence.add_output(target, record); });
    if (!read) return read.error();
  }
  return evidence;
}

}  // namespace reseq::demo
