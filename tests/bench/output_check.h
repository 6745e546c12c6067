// Looks whether what a contestant wrote is right: a wrong output is worth no time.
// Thread rule: plain functions; each throws with the first thing that is wrong.
#pragma once

#include <string>
#include <vector>

#include "kafka/admin.h"
#include "tests/bench/contestant.h"
#include "tests/bench/requests.h"

namespace reseq::bench {

// In topic `work`, read_committed: the last request of every document, requests of a document in their order and never
// twice, and all of them when `complete`.
enum class Completeness : unsigned char { kEveryRequest, kLastOfEach };
void check_work(const Application& application, const Requests& requests, Completeness completeness);

// In topic `work`, read_committed: each document, as often as it has attempts, which are counted from 1 on. Each was
// asked for once.
void check_attempts(const Application& application, const Requests& requests, const Failing& failing);

// In topic `work`, from these offsets on: the classes kPriorities, all of them, in each partition one after the other.
void check_classes(const Application& application, const std::vector<kafka::PlainOffset>& since);

// In both outputs: one result for every document, that of its last request, with a version and the payload.
void check_outputs(const Application& application, const Requests& requests);

// In these outputs: every version of every document, but for those that are lost, with its payload; those of a document
// in their order, and with kAll, of one partition, all of them.
enum class InOrder : unsigned char { kOfADocument, kAll };
struct EveryVersion {
  InOrder in_order = InOrder::kOfADocument;
  Losing losing = {};
  bool numbered = true;  // `reseq-version` rises
  std::vector<std::string> targets = {"search", "catalogue"};
};
void check_every_version(const Application& application, const Requests& requests, const EveryVersion& expected);

// In the output of `search`: documents whose last record is not that of their last request, as a sink has them that
// writes whatever comes. Throws when a document has no record.
[[nodiscard]] std::uint64_t documents_that_end_old(const Application& application, const Requests& requests);

}  // namespace reseq::bench
