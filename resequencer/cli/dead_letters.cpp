#include "cli/dead_letters.h"

#include <algorithm>
#include <cstdio>
#include <set>

#include "admin/json_text.h"
#include "base/log.h"
#include "cli/session.h"
#include "cli/show.h"
#include "cli/table.h"
#include "codec/header_names.h"
#include "kafka/admin.h"
#include "runtime/application/clients.h"

namespace reseq::cli {

namespace {

using admin::Json;

constexpr std::size_t kShownBytes = 2'000;  // of a payload on a terminal

// How keys become partitions; without a number of them nobody can say where a key belongs.
struct Placing {
  Partitioner partitioner = Partitioner::kUnchecked;
  std::int32_t partitions = 0;
};

// Operations name their partition, whatever the key.
bool is_misrouted(const DeadLetter& letter) {
  return letter.text(codec::header::kReason) == name_of(Reason::kMisrouted) && letter.key &&
         letter.source_partition() && letter.text(codec::header::kControl).empty();
}

// Asked only if a letter needs it; brokers that do not tell leave the letters without it.
Placing placing_for(const runtime::Application& application, const std::vector<DeadLetter>& letters) {
  Placing placing{application.partitioner};
  if (std::none_of(letters.begin(), letters.end(), is_misrouted)) return placing;
  auto admin = kafka::Admin::open(runtime::cluster_settings_of(application, std::nullopt).connection);
  if (!admin) return placing;
  const auto count = admin.value()->partition_count(application.settings.topic_requests, kafka::kBrokerAnswerLimit);
  placing.partitions = count ? count.value() : 0;
  return placing;
}

std::optional<runtime::Misplaced> misplacement_of(const DeadLetter& letter, const Placing& placing) {
  if (!is_misrouted(letter)) return std::nullopt;
  return runtime::misplaced(*letter.key, Partition(*letter.source_partition()), placing.partitioner,
                            placing.partitions);
}

void add_misplacement(Json& object, const DeadLetter& letter, const Placing& placing) {
  const auto misplaced = misplacement_of(letter, placing);
  if (!misplaced) return;
  object["belongs_to"] = misplaced->belongs_to.value();
  object["fix"] = runtime::fix_of(*misplaced, placing.partitioner);
}

// Each once.
std::set<std::string> fixes_of(const std::vector<DeadLetter>& letters, const Placing& placing) {
  std::set<std::string> fixes;
  for (const DeadLetter& letter : letters)
    if (const auto misplaced = misplacement_of(letter, placing))
      fixes.insert(runtime::fix_of(*misplaced, placing.partitioner));
  return fixes;
}

// By reason; empty when there are none.
std::string counts_text(const runtime::LetterCounts& counts) {
  if (counts.by_reason().empty()) return "";
  Table table({"REASON", "LETTERS", "OLDEST", "NEWEST"});
  for (const Json& one : counts.json())
    table.add({admin::text_in(one, "reason"), admin::number_text(one, "letters"), admin::text_in(one, "oldest"),
               admin::text_in(one, "newest")});
  return "\n" + table.text();
}

}  // namespace

Result<> list_dead_letters(const config::Settings& settings, const LetterFilter& filter, View view) {
  const runtime::Application application(settings);
  const auto read = find_letters(application, filter);
  if (!read) return read.error();
  const FoundLetters& found = read.value();
  const Placing placing = placing_for(application, found.letters);
  if (view == View::kJson) {
    Json letters = Json::array();
    for (const DeadLetter& letter : found.letters) {
      Json one = json_of(letter);
      add_misplacement(one, letter, placing);
      letters.push_back(std::move(one));
    }
    print_json({{"more", found.others}, {"dead_letters", std::move(letters)}, {"reasons", found.counts.json()}});
    return Done{};
  }
  Table table({"PLACE", "TIME", "REASON", "ID", "SOURCE"});
  for (const DeadLetter& letter : found.letters) {
    const auto misplaced = misplacement_of(letter, placing);
    table.add(
        {text_of(letter.place), admin::time_text(letter.at), letter.text(codec::header::kReason),
         id_cell(letter.key.value_or("(no key)")),
         source_text(letter) + (misplaced ? ", belongs to " + std::to_string(misplaced->belongs_to.value()) : "")});
  }
  std::fputs(table.text().c_str(), stdout);
  std::fputs(counts_text(found.counts).c_str(), stdout);
  for (const std::string& fix : fixes_of(found.letters, placing)) std::printf("misrouted: %s\n", fix.c_str());
  if (found.others > 0)
    std::fprintf(stderr, "resequencer: %zu older ones fit as well: --max shows more of them\n", found.others);
  return Done{};
}

Result<> show_dead_letter(const config::Settings& settings, const LetterPlace& place, View view) {
  const runtime::Application application(settings);
  const auto read = read_dead_letter(application, place);
  if (!read) return read.error();
  const DeadLetter& letter = read.value();
  const Placing placing = placing_for(application, {letter});
  if (view == View::kJson) {
    Json object = json_of(letter);
    add_misplacement(object, letter, placing);
    object["headers"] = Json::array();
    for (const auto& [name, value] : letter.headers) {
      Json header = Json::object();
      admin::set_bytes(header, "name", name);
      if (value) admin::set_bytes(header, "value", *value);
      object["headers"].push_back(std::move(header));
    }
    if (letter.payload) admin::set_bytes(object, "payload", *letter.payload);
    print_json(object);
    return Done{};
  }
  std::printf("id       %s\nreason   %s\nsource   %s\nwritten  %s\n", id_text(letter).c_str(),
              log::one_line(letter.text(codec::header::kReason)).c_str(), log::one_line(source_text(letter)).c_str(),
              admin::time_text(letter.at).c_str());
  if (const auto misplaced = misplacement_of(letter, placing))
    std::printf("belongs  to partition %d; %s\n", misplaced->belongs_to.value(),
                runtime::fix_of(*misplaced, placing.partitioner).c_str());
  for (const auto& [name, value] : letter.headers)
    std::printf("header   %s = %s\n", log::one_line(name).c_str(), value ? log::one_line(*value).c_str() : "(null)");
  if (!letter.payload)
    std::printf("payload  (null)\n");
  else
    std::printf("payload  %zu bytes: %s\n", letter.payload->size(),
                log::one_line(std::string_view(*letter.payload).substr(0, kShownBytes)).c_str());
  return Done{};
}

}  // namespace reseq::cli
