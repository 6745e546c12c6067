// Workload: requests of many documents with several updates each, and what each target must hold in the end. The end is
// computed from the requests alone: for each document and target the request with the highest sequence that names it.
// Thread rule: one thread builds it, then it is read-only.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace reseq::test {

// Of an application whose requests name one of them or none.
inline const std::vector<std::string> kTwoTargets = {"search", "catalogue"};

struct WorkloadRequest {
  std::string id;
  std::uint64_t sequence = 0;
  bool removal = false;              // null payload: a delete for all targets
  std::vector<std::string> targets;  // explicit list; empty = all
  [[nodiscard]] std::string payload() const;
};

struct Expected {
  std::uint64_t sequence = 0;
  bool removal = false;
};

class Workload {
 public:
  // `documents` ids, each with 1 .. 2 * updates - 1 requests, in a seeded order that keeps each document's own order.
  Workload(std::uint64_t seed, std::size_t documents, std::size_t updates, std::vector<std::string> targets);

  [[nodiscard]] const std::vector<WorkloadRequest>& requests() const { return requests_; }
  // By target, then by id.
  [[nodiscard]] const std::map<std::string, std::map<std::string, Expected>>& end() const { return end_; }

 private:
  std::vector<WorkloadRequest> requests_;
  std::map<std::string, std::map<std::string, Expected>> end_;
};

}  // namespace reseq::test
