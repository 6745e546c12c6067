// Requests: what every contestant gets to process, and what must be left of it. The same for the same plan.
// Invariants: the sequence of a document is 1, 2, 3, ...; every request has the three headers that work records carry
// (reseq-seq, reseq-epoch, reseq-targets), so that no contestant adds or removes one.
// Thread rule: one thread.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "kafka/settings.h"

namespace reseq::bench {

inline constexpr std::string_view kTargets = "search,catalogue";
inline constexpr std::uint64_t kTargetCount = 2;
inline constexpr std::size_t kPayloadBytes = 200;
// Three classes, none of those that leave only while nothing else is under way.
inline constexpr std::array<std::string_view, 3> kPriorities = {"50", "100", "150"};

enum class Choice : unsigned char {
  kUniform,
  kZipf,  // exponent 1: document k is asked for 1/k as often as the first
};

struct Plan {
  std::uint64_t documents = 0;    // ids that may occur
  bool each_once = true;          // begins with one request of each document,
  std::uint64_t versions = 1;     // or with so many in a row
  std::uint64_t updates = 0;      // behind that
  std::uint64_t again_after = 0;  // each document a second time, so many documents later; 0: not
  std::size_t payload_bytes = kPayloadBytes;
  Choice choice = Choice::kUniform;  // of the document of an update

  [[nodiscard]] std::uint64_t records() const {
    return (each_once ? documents * versions : 0) + (again_after > 0 ? documents : 0) + updates;
  }
};

// Documents whose first request fails at its first attempt: the numbers that `every` divides.
struct Failing {
  std::uint64_t every = 0;  // 0: none
  std::uint64_t below = UINT64_MAX;

  [[nodiscard]] bool includes(std::uint64_t document) const {
    return every > 0 && document < below && document % every == 0;
  }
  // Of documents 0 .. documents-1.
  [[nodiscard]] std::uint64_t count(std::uint64_t documents) const {
    return every > 0 ? (std::min(documents, below) + every - 1) / every : 0;
  }
};

// Documents whose results never come: of each `every` the first ones.
struct Losing {
  std::uint64_t every = 0;  // 0: none
  std::uint64_t burst = 0;

  [[nodiscard]] bool includes(std::uint64_t document) const { return every > 0 && document % every < burst; }
  // Of documents 0 .. documents-1.
  [[nodiscard]] std::uint64_t count(std::uint64_t documents) const {
    return every > 0 ? documents / every * burst + std::min(documents % every, burst) : 0;
  }
};

// What the pipeline does that answers.
struct Answering {
  Failing failing = {};
  Losing losing = {};
  std::uint64_t reversed = 1;  // so many results of a document in a row come in the order from the last to the first
};

struct Request {
  std::uint64_t document = 0;
  std::uint32_t sequence = 0;
};

// Which of them are sent, and how.
struct Sending {
  std::size_t first = 0;
  std::size_t end = SIZE_MAX;                         // behind the last one
  double per_second = 0;                              // 0: as fast as they are taken
  std::span<const std::string_view> priorities = {};  // of the documents in turn; none: without that header
};

class Requests {
 public:
  explicit Requests(const Plan& plan);

  [[nodiscard]] const std::vector<Request>& all() const { return all_; }
  [[nodiscard]] std::uint64_t documents() const { return last_.size(); }
  // Sequence of the last request of a document; 0 = it has none.
  [[nodiscard]] std::uint32_t last(std::uint64_t document) const { return last_[document]; }

  [[nodiscard]] std::size_t payload_bytes() const { return payload_bytes_; }

  // Appends them to the topic; good when every one is acknowledged. Throws on failure.
  void send(const kafka::Connection& connection, const std::string& topic, const Sending& sending = {}) const;

 private:
  std::vector<Request> all_;
  std::vector<std::uint32_t> last_;  // by document
  std::size_t payload_bytes_;
};

[[nodiscard]] std::string id_of(std::uint64_t document);
// So many letters that name document and sequence.
[[nodiscard]] std::string payload_of(const Request& request, std::size_t bytes = kPayloadBytes);

}  // namespace reseq::bench
