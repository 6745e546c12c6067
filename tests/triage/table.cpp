#include "tests/triage/table.h"

#include <algorithm>
#include <array>
#include <fstream>
#include <map>
#include <sstream>
#include <stdexcept>
#include <string_view>

namespace reseq::triage {

namespace {

using Words = std::vector<std::string>;

constexpr std::array<std::string_view, 7> kEndings = {"goes-on",  "renewed", "aborted", "rejoined",
                                                      "recycled", "parked",  "ends"};
constexpr std::array<std::string_view, 3> kTimes = {"once", "three", "always"};
// What 2.0.2 knows by name.
constexpr int kLastNamed = RD_KAFKA_RESP_ERR_PRINCIPAL_DESERIALIZATION_FAILURE;
// A broker of Kafka 4 answers this one (KIP-890); it stands for every number that 2.0.2 does not know.
constexpr auto kTransactionAbortable = static_cast<rd_kafka_resp_err_t>(120);

std::map<std::string, rd_kafka_resp_err_t> make_numbers() {
  std::map<std::string, rd_kafka_resp_err_t> numbers = {
      {"TRANSACTION_ABORTABLE", kTransactionAbortable},
      {"_TRANSPORT", RD_KAFKA_RESP_ERR__TRANSPORT},  // not of a broker: the connection is cut
      {"_TIMED_OUT", RD_KAFKA_RESP_ERR__TIMED_OUT},  // not of a broker: it does not answer in time
  };
  const rd_kafka_err_desc* described = nullptr;
  std::size_t count = 0;
  rd_kafka_get_err_descs(&described, &count);
  for (std::size_t i = 0; i < count; ++i) {
    const rd_kafka_err_desc& one = described[i];
    if (one.name != nullptr && one.code >= RD_KAFKA_RESP_ERR_UNKNOWN && one.code != 0 && one.code <= kLastNamed)
      numbers.emplace(one.name, one.code);
  }
  return numbers;
}

const std::map<std::string, rd_kafka_resp_err_t>& numbers() {
  static const auto kNumbers = make_numbers();
  return kNumbers;
}

// One line of a table without its comment, and where it stands.
struct Line {
  std::string path;
  int number = 0;
  std::string text;
  [[noreturn]] void refuse(const std::string& why) const {
    throw std::runtime_error(path + ":" + std::to_string(number) + ": " + why);
  }
};

std::vector<Line> lines_of(const std::string& path) {
  std::ifstream file(path);
  if (!file) throw std::runtime_error("cannot read " + path);
  std::vector<Line> lines;
  std::string text;
  for (int number = 1; std::getline(file, text); ++number) {
    text = text.substr(0, text.find('#'));
    if (text.find_first_not_of(' ') != std::string::npos) lines.push_back({path, number, text});
  }
  return lines;
}

Words words_of(const std::string& text) {
  std::istringstream stream(text);
  Words words;
  for (std::string word; stream >> word;) words.push_back(word);
  return words;
}

Words parts_of(const Line& line, char separator) {
  std::istringstream stream(line.text);
  Words parts;
  for (std::string part; std::getline(stream, part, separator);) parts.push_back(part);
  if (parts.size() != 3) line.refuse("three parts are wanted");
  return parts;
}

template <typename Value, std::size_t N>
Value find(const Line& line, const std::array<std::string_view, N>& names, const std::string& word) {
  const auto at = std::find(names.begin(), names.end(), word);
  if (at == names.end()) line.refuse("not known: " + word);
  return static_cast<Value>(at - names.begin());
}

void check_api(const Line& line, const std::string& api) {
  if (std::find(apis().begin(), apis().end(), api) == apis().end()) line.refuse("no such request: " + api);
}

void check_code(const Line& line, const std::string& code) {
  if (!numbers().contains(code)) line.refuse("no such code: " + code);
}

// "CODE CODE -> ending or ending"
void read_codes_and_endings(const Line& line, const std::string& text, Words& codes, std::set<Ending>& endings) {
  bool after = false;
  for (const std::string& word : words_of(text)) {
    if (word == "->") {
      after = true;
    } else if (!after) {
      check_code(line, word);
      codes.push_back(word);
    } else if (word != "or") {
      endings.insert(find<Ending>(line, kEndings, word));
    }
  }
  if (codes.empty() || endings.empty()) line.refuse("CODE ... -> ENDING is wanted");
}

}  // namespace

std::string name_of(Ending ending) {
  return std::string(kEndings[static_cast<std::size_t>(ending)]);
}

std::string Cell::name() const {
  return api + " " + code_name + " " + std::string(kTimes[static_cast<std::size_t>(times)]);
}

const std::vector<std::string>& apis() {
  static const std::vector<std::string> kApis = {"InitProducerId",
                                                 "AddPartitionsToTxn",
                                                 "AddOffsetsToTxn",
                                                 "TxnOffsetCommit",
                                                 "EndTxn/commit",
                                                 "EndTxn/abort",
                                                 "Produce",
                                                 "FindCoordinator/transaction",
                                                 "FindCoordinator/offsets",
                                                 "FindCoordinator/group",
                                                 "JoinGroup",
                                                 "SyncGroup",
                                                 "Heartbeat",
                                                 "LeaveGroup",
                                                 "OffsetFetch",
                                                 "Metadata/inputs",
                                                 "Metadata/outputs",
                                                 "Fetch",
                                                 "ListOffsets"};
  return kApis;
}

const std::set<std::string>& codes() {
  static const auto kCodes = [] {
    std::set<std::string> names;
    for (const auto& [name, number] : numbers()) names.insert(name);
    return names;
  }();
  return kCodes;
}

std::vector<Cell> read_cells(const std::string& path) {
  std::vector<Cell> cells;
  for (const Line& line : lines_of(path)) {
    const Words parts = parts_of(line, ':');
    const Words api = words_of(parts[0]);
    if (api.size() != 1) line.refuse("one request is wanted");
    check_api(line, api[0]);
    Words codes;
    std::set<Ending> endings;
    read_codes_and_endings(line, parts[2], codes, endings);
    for (const std::string& code : codes)
      for (const std::string& times : words_of(parts[1]))
        cells.push_back({line.number, api[0], code, numbers().at(code), find<Times>(line, kTimes, times), endings});
  }
  return cells;
}

std::vector<Unreachable> read_unreachable(const std::string& path) {
  std::vector<Unreachable> groups;
  for (const Line& line : lines_of(path)) {
    const Words parts = parts_of(line, '|');
    Unreachable group{.line = line.number, .apis = {}, .codes = {}, .reason = parts[2]};
    // "all", "all but A B", or "A B"
    Words named = words_of(parts[0]);
    const bool all = !named.empty() && named[0] == "all";
    if (all) named.erase(named.begin(), named.begin() + (named.size() > 1 ? 2 : 1));
    for (const std::string& api : named) check_api(line, api);
    if (all) group.apis.insert(apis().begin(), apis().end());
    for (const std::string& api : named) all ? (void)group.apis.erase(api) : (void)group.apis.insert(api);
    const Words named_codes = words_of(parts[1]);
    if (named_codes == Words{"every"}) group.codes = codes();
    for (const std::string& code : group.codes.empty() ? named_codes : Words{}) {
      check_code(line, code);
      group.codes.insert(code);
    }
    if (words_of(group.reason).empty()) line.refuse("a reason is wanted");
    groups.push_back(std::move(group));
  }
  return groups;
}

}  // namespace reseq::triage
