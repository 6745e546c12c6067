#include "tests/unit/judge/past.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <set>
#include <spdlog/spdlog.h>
#include <stdexcept>
#include <variant>

#include "codec/keys.h"
#include "codec/rows.h"

namespace reseq::judge {

namespace {

constexpr std::uint64_t kFirstSeed = 42;  // has it all; another one is found when worlds change
constexpr std::uint64_t kSeedsMax = 200;
constexpr std::size_t kRecordsMin = 8;

}  // namespace

const Past& Past::shared() {
  static const Past kPast = [] {
    spdlog::set_level(spdlog::level::off);
    std::string root = std::filesystem::temp_directory_path().string() + "/judged-past-XXXXXX";
    if (::mkdtemp(root.data()) == nullptr) throw std::runtime_error("no folder for a world");
    Past past;
    for (std::uint64_t seed = kFirstSeed; seed < kFirstSeed + kSeedsMax; ++seed) {
      past.world_ = std::make_unique<simulation::World>(seed, Guards(), root + "/" + std::to_string(seed));
      if (const std::string wrong = past.world_->play(); !wrong.empty()) throw std::runtime_error(wrong);
      if (!past.is_rich()) continue;
      std::filesystem::remove_all(root);
      return past;
    }
    throw std::runtime_error("no world among the first has what these tests need");
  }();
  return kPast;
}

bool Past::is_rich() const {
  const config::Settings& settings = application().settings;
  if (application().partitions < 2 || settings.intake != "inline" || settings.events != "all") return false;
  const std::size_t events = application().topics.of(Role::kEvents).value();
  for (const std::size_t topic : {work(), output(), events})
    if (history().log({topic, Partition(0)}).size() < kRecordsMin) return false;
  for (const std::size_t topic : {work(), events})
    if (history().log({topic, Partition(1)}).empty()) return false;
  Place place = changelog();
  std::size_t generations = 0;
  std::size_t batches = 0;
  std::set<std::string_view> documents;
  for (std::size_t i = 0; i < history().log(place).size(); ++i) {
    const Record record = history().log(place)[i];
    if (const auto key = codec::parse_key(*record.key); key && key->type == codec::KeyType::kDocument) {
      if (record.payload) documents.insert(*record.key);
      if (!record.payload) documents.erase(*record.key);
    }
    const auto meta = codec::decode_meta(*record.key, record.payload.value_or(""));
    if (const auto* read = std::get_if<Meta>(&meta)) {
      ++batches;
      generations = read->lineage.size();
    }
  }
  return generations >= 3 && batches >= kRecordsMin && !documents.empty();
}

Place Past::changelog() const {
  return {application().topics.of(Role::kChangelog).value(), Partition(0)};
}

Place Past::requests() const {
  return {application().topics.of(Role::kRequests).value(), Partition(0)};
}

std::size_t Past::work() const {
  return application().topics.of(Role::kWork).value();
}

std::size_t Past::output() const {
  return application().topics.output(0).value();
}

std::unique_ptr<History> Past::edited(const Edit& edit) const {
  auto made = std::make_unique<History>();
  for (const auto& [place, log] : history().logs()) {
    Offset next{0};
    for (std::size_t i = 0; i < log.size(); ++i)
      for (Record& record : edit(place, log[i])) {
        record.offset = std::max(record.offset, next);
        made->add(place, record);
        next = Offset(record.offset.value() + 1);
      }
  }
  return made;
}

std::unique_ptr<History> Past::with(Place place, Offset offset, const std::optional<Record>& instead) const {
  return edited([&](Place where, const Record& record) -> std::vector<Record> {
    if (where != place || record.offset != offset) return {record};
    if (!instead) return {};
    Record other = *instead;
    other.offset = offset;
    return {other};
  });
}

std::unique_ptr<History> Past::with_added(Place place, Record more) const {
  auto made = edited([](Place, const Record& record) { return std::vector<Record>{record}; });
  const History::Log& log = history().log(place);
  more.offset = Offset(log.empty() ? 0 : log.offset(log.size() - 1).value() + 1);
  made->add(place, more);
  return made;
}

std::vector<std::string> Past::found(const History& history) const {
  return found(history, specification());
}

std::vector<std::string> Past::found(const History& history, const Specification& specification) const {
  Verdict verdict;
  review(application(), history, specification, {}, verdict);
  std::vector<std::string> names;
  for (const std::string& line : verdict.lines()) {
    const std::string name = line.substr(0, line.find(':'));
    if (names.empty() || names.back() != name) names.push_back(name);
  }
  return names;
}

}  // namespace reseq::judge
