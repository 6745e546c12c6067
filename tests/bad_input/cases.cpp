#include "tests/bad_input/cases.h"

#include <algorithm>

#include "base/reserved_names.h"
#include "tests/bad_input/subject.h"

namespace reseq::test {

namespace {

constexpr const char* kRequests = "requests";
constexpr const char* kCommands = "commands";
constexpr const char* kControl = "control";

Record keyed(Record record, Bytes key) {
  record.key = std::move(key);
  return record;
}

Record paid(Record record, Bytes payload) {
  record.payload = std::move(payload);
  return record;
}

Record command(const std::string& name, const std::string& stem, const std::string& sequence,
               const Headers& more = {}) {
  Record record{doc(stem), "payload of " + stem, {{"reseq-command", name}, {"reseq-seq", sequence}}};
  record.headers.insert(record.headers.end(), more.begin(), more.end());
  return record;
}

}  // namespace

std::string doc(const std::string& stem) {
  return id_in(0, "doc/" + stem, Subject::kPartitions);
}

Record request(const std::string& stem, const std::string& sequence, const Headers& more) {
  Record record{doc(stem), "payload of " + stem, {{"reseq-seq", sequence}}};
  record.headers.insert(record.headers.end(), more.begin(), more.end());
  return record;
}

Record result(const std::string& stem, const std::string& sequence, const Headers& more) {
  Headers headers = {{"reseq-epoch", "0"}, {"reseq-target", "search"}};
  headers.insert(headers.end(), more.begin(), more.end());
  return command("sequence", stem, sequence, headers);
}

Record without(Record record, const std::string& header) {
  std::erase_if(record.headers, [&](const RecordHeader& one) { return one.name == header; });
  return record;
}

std::vector<Case> bad_ids() {
  const std::string long_id = id_in(0, std::string(4097, 'i'), Subject::kPartitions);
  const std::string elsewhere = id_in(1, "doc/elsewhere", Subject::kPartitions);
  return {
      {"no id", kRequests, keyed(request("x", "1"), {}), "missing_id"},
      {"id as header only", kRequests, keyed(request("x", "1", {{"reseq-id", "x"}}), {}), "id_key_mismatch"},
      {"empty id", kRequests, keyed(request("x", "1"), ""), "empty_id"},
      {"id of more than 4 KiB", kRequests, keyed(request("x", "1"), long_id), "id_too_long"},
      {"id that is not the key", kRequests, request("x", "1", {{"reseq-id", "y"}}), "id_key_mismatch"},
      {"misrouted key", kRequests, keyed(request("x", "1"), elsewhere), "misrouted"},

      {"result without id", kCommands, keyed(result("x", "1"), {}), "missing_id"},
      {"result with empty id", kCommands, keyed(result("x", "1"), ""), "empty_id"},
      {"result with an id of more than 4 KiB", kCommands, keyed(result("x", "1"), long_id), "id_too_long"},
      {"result with an id that is not the key", kCommands, result("x", "1", {{"reseq-id", "y"}}), "id_key_mismatch"},
      {"misrouted result", kCommands, keyed(result("x", "1"), elsewhere), "misrouted"},
      {"misrouted register", kCommands, keyed(command("register", "x", "1"), elsewhere), "misrouted"},
      {"misrouted unregister", kCommands, keyed(command("unregister", "x", "1"), elsewhere), "misrouted"},
  };
}

std::vector<Case> bad_sequences() {
  std::vector<Case> cases = {
      {"no sequence", kRequests, without(request("x", "1"), "reseq-seq"), "missing_sequence"},
      {"result without sequence", kCommands, without(result("x", "1"), "reseq-seq"), "missing_sequence"},
      {"register without sequence", kCommands, without(command("register", "x", "1"), "reseq-seq"), "missing_sequence"},
      {"null sequence", kRequests, {doc("x"), "payload", {{"reseq-seq", std::nullopt}}}, "malformed_header"},
      {"last of two sequences", kRequests, request("x", "1", {{"reseq-seq", "one"}}), "malformed_sequence"},
  };
  const std::string above = "18446744073709551616";  // 2^64
  for (const std::string& text : {std::string(), std::string("12a"), std::string("-1"), std::string("+1"),
                                  std::string(" 1"), std::string("1.0"), above, std::string("1\0", 2)})
    cases.push_back({"malformed sequence '" + text + "'", kRequests, request("x", text), "malformed_sequence"});
  for (const char* foreign : {"2024-05-01T10:00:00Z", "16/B374D848", "v17"})
    for (const bool requests : {true, false})
      cases.push_back({std::string("sequence of another kind ") + foreign, requests ? kRequests : kCommands,
                       requests ? request("x", foreign) : result("x", foreign), "malformed_sequence"});
  return cases;
}

std::vector<Case> bad_requests() {
  Record other_payload = paid(request("reused", "5"), "another edit");
  Record other_op = paid(request("reused-op", "5"), std::nullopt);
  return {
      {"result among requests", kRequests, request("x", "1", {{"reseq-command", "sequence"}}), "unknown_command"},
      {"unknown command", kRequests, request("x", "1", {{"reseq-command", "upsert"}}), "unknown_command"},
      {"upsert without payload", kRequests, paid(request("x", "1", {{"reseq-op", "upsert"}}), std::nullopt),
       "op_payload_conflict"},
      {"unknown op", kRequests, request("x", "1", {{"reseq-op", "remove"}}), "malformed_header"},
      {"malformed epoch", kRequests, request("x", "1", {{"reseq-epoch", "first"}}), "malformed_header"},
      {"epoch of more than 32 bits", kRequests, request("x", "1", {{"reseq-epoch", "4294967296"}}), "malformed_header"},
      {"malformed flag", kRequests, request("x", "1", {{"reseq-reprocess", "yes"}}), "malformed_header"},
      {"revision from outside", kRequests, request("x", "1", {{"reseq-revision", "1"}}), "unsupported_header"},
      {"two edits under one sequence", kRequests, other_payload, "sequence_reused", {request("reused", "5")}, "5"},
      {"edit and delete under one sequence", kRequests, other_op, "sequence_reused", {request("reused-op", "5")}, "5"},
  };
}

std::vector<Case> bad_commands() {
  const Record no_epoch = without(result("epoch", "7"), "reseq-epoch");
  const Headers copied = {{"reseq-epoch", "0"}, {"reseq-targets", "search,catalogue"}};
  const Headers one_target = {{"reseq-targets", "catalogue"}};
  const Headers ahead = {{"reseq-observed-version", "9223372036854775807"}};
  return {
      {"no command", kCommands, without(result("x", "1"), "reseq-command"), "unknown_command"},
      {"command that nobody knows", kCommands, command("upsert", "x", "1"), "unknown_command"},
      {"result that is an upsert without payload", kCommands,
       paid(result("x", "1", {{"reseq-op", "upsert"}}), std::nullopt), "op_payload_conflict"},
      {"missing epoch", kCommands, no_epoch, "epoch_missing", {request("epoch", "7", {{"reseq-epoch", "3"}})}, "7"},
      {"malformed revision", kCommands, result("x", "1", {{"reseq-revision", "-1"}}), "malformed_header"},
      {"malformed observed version", kCommands, result("x", "1", {{"reseq-observed-version", "v1"}}),
       "malformed_header"},
      {"observed version that is none", kCommands,
       result("x", "1", {{"reseq-observed-version", "9223372036854775808"}}), "malformed_header"},
      {"observed version far ahead",
       kCommands,
       result("ahead", "1", ahead),
       "observed_version_too_high",
       {request("ahead", "1")},
       "1"},
      {"control among commands", kCommands, result("x", "1", {{"reseq-control", "reset"}}), "unsupported_header"},
      {"result of nothing", kCommands, result("nothing", "1"), "unregistered"},
      {"result newer than its document", kCommands, result("newer", "9"), "unregistered", {request("newer", "8")}, "8"},
      {"result for another target",
       kCommands,
       result("target", "4"),
       "unregistered_target",
       {request("target", "4", one_target)},
       "4"},
      {"unregister of all that work asked for",
       kCommands,
       command("unregister", "copied", "2", copied),
       "ambiguous_targets",
       {request("copied", "2")},
       "2"},
  };
}

std::vector<Case> bad_targets() {
  const auto targets = [](const std::string& list) { return Headers{{"reseq-targets", list}}; };
  const auto one = [](const std::string& name) {
    Record record = without(result("x", "1"), "reseq-target");
    record.headers.push_back({"reseq-target", name});
    return record;
  };
  const std::string outside = id_in(0, "elsewhere/x", Subject::kPartitions);
  return {
      {"unknown target", kRequests, request("x", "1", targets("search,nowhere")), "unknown_target"},
      {"no target", kRequests, keyed(request("x", "1"), outside), "no_target"},
      {"register for no target", kCommands, keyed(command("register", "x", "1"), outside), "no_target"},
      {"empty list of targets", kRequests, request("x", "1", targets("")), "malformed_header"},
      {"blank in a list of targets", kRequests, request("x", "1", targets("search, catalogue")), "malformed_header"},
      {"path as target", kRequests, request("x", "1", targets("../search")), "malformed_header"},
      {"result for an unknown target", kCommands, one("nowhere"), "unknown_target"},
      {"result for all targets", kCommands, one("*"), "malformed_header"},
      {"result that names no target", kCommands, without(result("x", "1"), "reseq-target"), "missing_target"},
      {"unregister that names no target", kCommands, command("unregister", "x", "1"), "missing_target"},
  };
}

std::vector<Case> bad_controls() {
  const auto control = [](const std::string& name, const Headers& more) {
    Record record{doc("x"), std::nullopt, {{"reseq-control", name}}};
    record.headers.insert(record.headers.end(), more.begin(), more.end());
    return record;
  };
  const Headers misdirected = {{"reseq-control-id", "r"}, {"reseq-control-partition", "1"}, {"reseq-epoch", "2"}};
  const Headers half = {{"reseq-control-id", "r"}, {"reseq-control-partition", "0"}};
  return {
      {"unknown operation", kControl, control("floor", half), "unknown_control"},
      {"request among operations", kControl, request("x", "1"), "unknown_control"},
      {"operation among requests", kRequests, control("floor", half), "unknown_control"},
      {"pause without a name", kControl, control("pause", {{"reseq-control-partition", "0"}}), "malformed_header"},
      {"pause of another partition", kControl, control("pause", misdirected), "misrouted"},
      {"floor without a version", kControl, control("raise-version-floor", half), "malformed_header"},
      {"postpone without a date", kControl, control("dispatch-postpone", half), "malformed_header"},
      {"release without a sequence", kControl, control("release", half), "missing_sequence"},
      {"RESET of another partition", kRequests, control("reset", misdirected), "misrouted"},
      {"RESET without epoch", kRequests, control("reset", half), "malformed_header"},
  };
}

std::vector<Case> reserved_headers() {
  std::vector<Case> cases;
  std::vector<std::string> names(reserved::kHeaders.begin(), reserved::kHeaders.end());
  names.emplace_back("reseq-control-anything");
  for (const std::string& name : names) {
    cases.push_back({name + " on a request", kRequests, request("x", "1", {{name, "1"}}), "unsupported_header"});
    cases.push_back({name + " on a result", kCommands, result("x", "1", {{name, "1"}}), "unsupported_header"});
  }
  // Where nothing waits; of a result they may be copied.
  for (const std::string name :
       {"reseq-priority", "reseq-process-at", "reseq-expires-at", "reseq-attempt", "reseq-lease-until"})
    cases.push_back({name + " on a request", kRequests, request("x", "1", {{name, "1"}}), "unsupported_header"});
  return cases;
}

std::vector<Case> garbage_in_headers() {
  std::vector<Case> cases;
  const std::string garbage("\x00\xff\xfe\x80reseq\x1b[2J\n", 12);
  for (const char* name : {"reseq-id", "reseq-epoch", "reseq-targets", "reseq-op", "reseq-reprocess"}) {
    const std::string on = std::string(" in ") + name;
    const std::string reason = name == std::string("reseq-id") ? "id_key_mismatch" : "malformed_header";
    cases.push_back({"null" + on, kRequests, request("x", "1", {{name, std::nullopt}}), "malformed_header"});
    cases.push_back({"bytes" + on, kRequests, request("x", "1", {{name, garbage}}), reason});
  }
  for (const char* name : {"reseq-revision", "reseq-target", "reseq-observed-version", "reseq-attempt"}) {
    const std::string on = std::string(" in ") + name;
    cases.push_back({"null" + on, kCommands, result("x", "1", {{name, std::nullopt}}), "malformed_header"});
    cases.push_back({"bytes" + on, kCommands, result("x", "1", {{name, garbage}}), "malformed_header"});
  }
  const Record null_command{doc("x"), "payload", {{"reseq-command", std::nullopt}, {"reseq-seq", "1"}}};
  cases.push_back({"null command on requests", kRequests, null_command, "malformed_header"});
  cases.push_back({"null command on commands", kCommands, null_command, "malformed_header"});
  cases.push_back({"bytes as sequence", kRequests, request("x", garbage), "malformed_sequence"});
  cases.push_back({"bytes as command", kCommands, command(garbage, "x", "1"), "unknown_command"});
  return cases;
}

}  // namespace reseq::test
