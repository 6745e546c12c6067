// Writes: a batch for a store, put together by a test, and what became of each write.
// Thread rule: one thread.
#pragma once

#include <deque>
#include <string>
#include <vector>

#include "base/result.h"
#include "consumers/remote/remote_store.h"

namespace reseq::test {

class Writes {
 public:
  using Kind = remote::Answer::Kind;

  Writes& upsert(std::string id, std::uint64_t version, std::string payload);
  Writes& remove(std::string id, std::uint64_t version, std::int64_t at_ms = 0);
  // A marker, with the note of a third attempt.
  Writes& fail(std::string id, std::uint64_t version, std::string error);

  // Writes them all in one batch.
  Result<> to(remote::RemoteStore& store);
  // As to(), but what is to go again goes again, until all is answered.
  void all_to(remote::RemoteStore& store);

  [[nodiscard]] const std::vector<remote::Answer>& answers() const { return answers_; }
  [[nodiscard]] std::vector<Kind> kinds() const;

 private:
  remote::Write& add(std::string id, std::uint64_t version);

  std::deque<std::string> texts_;
  remote::Batch batch_;
  std::vector<remote::Answer> answers_;
};

}  // namespace reseq::test
