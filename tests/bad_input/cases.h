// The classes of bad input: one row each, with the reason that its dead letter must tell. They are meant for an
// application with kCasesToml: numbers as sequences, two targets that are asked for by name, or by a route for ids that
// begin with doc/. All records belong to partition 0 of Subject::kPartitions.
// Thread rule: plain functions.
#pragma once

#include <string>
#include <vector>

#include "tests/bad_input/record.h"

namespace reseq::test {

inline constexpr const char* kCasesToml = R"(
[[target]]
name = "search"
optional = true
[[target]]
name = "catalogue"
optional = true
[[route]]
id_prefix = "doc/"
targets = ["search", "catalogue"]
)";

struct Case {
  std::string name;
  std::string to;  // role of the topic
  Record record;
  std::string reason;
  std::vector<Record> before = {};  // requests that must have been registered
  std::string expected = "";        // reseq-expected-seq; empty = must not be there
};

// An id of partition 0 that no other stem leads to.
[[nodiscard]] std::string doc(const std::string& stem);
// A request with a payload; `more` follows reseq-seq.
[[nodiscard]] Record request(const std::string& stem, const std::string& sequence, const Headers& more = {});
// A result for `search` at epoch 0; `more` follows.
[[nodiscard]] Record result(const std::string& stem, const std::string& sequence, const Headers& more = {});
// Without the headers of that name.
[[nodiscard]] Record without(Record record, const std::string& header);

[[nodiscard]] std::vector<Case> bad_ids();
[[nodiscard]] std::vector<Case> bad_sequences();
[[nodiscard]] std::vector<Case> bad_requests();
[[nodiscard]] std::vector<Case> bad_commands();
[[nodiscard]] std::vector<Case> bad_targets();
[[nodiscard]] std::vector<Case> bad_controls();
[[nodiscard]] std::vector<Case> reserved_headers();
// Headers of the contract with a null value, and with bytes that are no text.
[[nodiscard]] std::vector<Case> garbage_in_headers();

}  // namespace reseq::test
