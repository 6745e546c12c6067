#include "tests/bad_input/odd_cases.h"

#include <algorithm>
#include <array>

#include "tests/bad_input/cases.h"
#include "tests/bad_input/subject.h"

namespace reseq::test {

namespace {

Record with_id(const std::string& id, const std::string& sequence) {
  Record record = request("x", sequence, {{"reseq-targets", "search,catalogue"}});
  record.key = id;
  record.payload = "payload of " + id + " at " + sequence;
  return record;
}

// Of exactly that many bytes, in partition 0: the last byte is the first one, not before `from`, that leads there.
std::string id_of(std::size_t bytes, char from) {
  std::string id(bytes, 'p');
  for (id.back() = from; id_in(0, id, Subject::kPartitions) != id;) ++id.back();
  return id;
}

}  // namespace

// Two documents under one long prefix: if they were mixed up, the second would be superseded by the first.
std::vector<OddCase> odd_ids() {
  const std::string one = id_of(600, 'a');
  const std::string other = id_of(600, static_cast<char>(one.back() + 1));
  const std::string bytes("doc/\x00\xff\xc3\x28\"\\\n", 11);
  return {
      {"id of 600 bytes", with_id(one, "5")},
      {"id of 600 bytes that differs in the last one", with_id(other, "3")},
      {"id of 4096 bytes", with_id(id_of(4096, 'a'), "1")},
      {"id of 4096 bytes that differs in the last one", with_id(id_of(4096, 'k'), "1")},
      {"id of one byte", with_id(id_of(1, '\x01'), "1")},
      {"id of bytes that are no text", with_id(id_in(0, bytes, Subject::kPartitions), "1")},
      {"id of escapes in JSON", with_id(id_in(0, std::string(4090, '\x01'), Subject::kPartitions), "1")},
  };
}

std::vector<OddCase> odd_headers() {
  Headers thousand;
  for (int i = 0; i < 999; ++i) thousand.push_back({"header-" + std::to_string(i % 900), std::to_string(i)});
  const Headers garbage = {{std::string("name\0with NUL", 13), "value"},
                           {"\xff\xfe name that is no UTF-8", std::string("\0\xff\x80 value", 9)},
                           {"", "header without name"},
                           {"null", std::nullopt},
                           {"empty", ""},
                           {"RESEQ-SEQ", "another name"},
                           {"reseq-seq ", "one more"},
                           {"reseq-", "nothing behind it"},
                           {"long", std::string(100'000, 'v')}};
  const Headers letter = {{"reseq-reason", "superseded"},     {"reseq-source-topic", "elsewhere"},
                          {"reseq-source-partition", "x"},    {"reseq-source-offset", std::nullopt},
                          {"reseq-expected-seq", "99999999"}, {"reseq-payload-omitted", "1"}};
  const std::string version = "9223372036854775807";
  return {
      {"1,000 headers", request("thousand", "1", thousand)},
      {"garbage in names and values", request("garbage", "1", garbage)},
      {"headers of a dead letter", request("letter", "1", letter)},
      {"version from outside", request("version", "1", {{"reseq-version", version}})},
      {"last of two sequences", request("doubled", "x", {{"reseq-seq", "7"}})},
      {"last of two lists of targets",
       request("targets", "1", {{"reseq-targets", "nowhere"}, {"reseq-targets", "search"}})},
      {"last of two nulls", request("nulls", "1", {{"reseq-epoch", std::nullopt}, {"reseq-epoch", "2"}})},
      {"header that nobody has invented yet", request("invented", "1", {{"reseq-invented", "kept"}})},
      {"tracing", request("traced", "1", {{"traceparent", "00-1-2-01"}, {"ce_id", "4711"}})},
  };
}

Headers travelling(const Record& record) {
  static constexpr std::array kSet = {"reseq-epoch",   "reseq-targets", "reseq-op",       "reseq-target",
                                      "reseq-command", "reseq-version", "reseq-reprocess"};
  Headers headers = record.headers;
  std::erase_if(headers,
                [](const RecordHeader& one) { return std::find(kSet.begin(), kSet.end(), one.name) != kSet.end(); });
  return headers;
}

}  // namespace reseq::test
