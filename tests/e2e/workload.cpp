#include "tests/e2e/workload.h"

#include <random>
#include <utility>

namespace reseq::test {

std::string WorkloadRequest::payload() const {
  return "{\"id\":\"" + id + "\",\"seq\":" + std::to_string(sequence) + ",\"text\":\"" + std::string(64, 'x') + "\"}";
}

Workload::Workload(std::uint64_t seed, std::size_t documents, std::size_t updates, std::vector<std::string> targets) {
  std::mt19937_64 random(seed);
  std::vector<std::size_t> turns;  // a document's number once for each of its requests
  for (std::size_t document = 0; document < documents; ++document)
    for (std::size_t i = 0; i < 1 + random() % (2 * updates - 1); ++i) turns.push_back(document);
  for (std::size_t i = turns.size(); i > 1; --i) std::swap(turns[i - 1], turns[random() % i]);

  std::vector<std::uint64_t> sequences(documents);
  for (const std::size_t document : turns) {
    WorkloadRequest request;
    request.id = "document/" + std::to_string(document);
    request.sequence = sequences[document] += 1 + random() % 3;
    request.removal = random() % 10 == 0;
    if (!request.removal && random() % 5 == 0) request.targets = {targets[random() % targets.size()]};
    for (const std::string& target : request.targets.empty() ? targets : request.targets)
      end_[target][request.id] = {request.sequence, request.removal};
    requests_.push_back(std::move(request));
  }
}

}  // namespace reseq::test
