// LoadSource: a made-up stream of changes, the same for the same options. Every document is created once and changed
// again and again; some requests are repeated later, as a producer does that was restarted. It knows what must be left
// of each document at the end.
// Invariants: the sequence of a document rises, with gaps; a payload is a function of seed, document and sequence, so
// that a repetition is byte for byte the same; memory is 16 bytes per document.
// Thread rule: one thread.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "model/order.h"
#include "producers/load/random.h"
#include "producers/sending/change_source.h"

namespace reseq::load {

struct LoadOptions {
  std::uint64_t documents = 1000;
  std::uint64_t updates = 5;            // per document on average, behind its first request
  std::uint32_t delete_percent = 10;    // of the updates
  std::uint32_t hot_percent = 0;        // of the updates go to one document in a hundred
  std::uint32_t duplicate_percent = 0;  // repetitions, of the requests
  std::uint32_t payload_bytes_min = 100;
  std::uint32_t payload_bytes_max = 300;
  std::uint64_t seed = 1;
  SequenceKind sequence_kind = SequenceKind::kU64;
  std::string id_prefix = "doc-";
  std::vector<std::string> targets = {};  // of every request
  std::optional<Epoch> epoch = {};        // of every request
};

inline constexpr std::uint64_t kDocumentsMax = std::uint64_t{1} << 32;
inline constexpr std::uint64_t kUpdatesMax = std::uint64_t{1} << 24;
inline constexpr std::uint32_t kPayloadBytesMax = 64U << 20;

// What must be left of a document.
struct FinalState {
  std::string id;
  std::string sequence;  // as on the wire
  bool deleted = false;
  std::string payload;  // empty when deleted
};

class LoadSource final : public sending::ChangeSource {
 public:
  // kInvalid: options out of range.
  [[nodiscard]] static Result<std::unique_ptr<LoadSource>> open(LoadOptions options);

  [[nodiscard]] std::string stream() const override;
  Result<> resume_after(const sending::Mark& mark) override;
  Result<std::optional<sending::Item>> next() override;
  [[nodiscard]] sending::Mark mark() const override { return {.position = position_, .token = {}}; }
  [[nodiscard]] std::string place() const override { return "request " + std::to_string(position_); }
  [[nodiscard]] std::optional<std::uint64_t> items_to_come() const override { return items_ - begun_at_; }

  // Of document 0 .. documents-1. REQUIRES: the stream was read to its end.
  [[nodiscard]] FinalState final_state(std::uint64_t document) const;

 private:
  struct Request {
    std::uint64_t document = 0;
    std::uint64_t sequence = 0;
    bool deleted = false;
  };
  struct Document {
    std::uint64_t sequence = 0;
    bool deleted = false;
  };

  explicit LoadSource(LoadOptions options);
  // The plan of the next request; the payload is made only for a request that is sent.
  Request next_request();
  std::uint64_t choose_document();
  [[nodiscard]] std::string payload_of(std::uint64_t document, std::uint64_t sequence) const;
  [[nodiscard]] std::string sequence_text(std::uint64_t sequence) const;
  [[nodiscard]] std::string id_of(std::uint64_t document) const;

  LoadOptions options_;
  Random random_;
  std::vector<Document> documents_;  // created so far
  std::vector<Request> recent_;      // ring, what a repetition repeats
  std::uint64_t items_;
  std::uint64_t duplicates_left_;
  std::uint64_t begun_at_ = 0;
  std::uint64_t position_ = 0;
};

// One line of JSON per document: id, seq, deleted, payload_bytes, payload_xxh3 (as fingerprint()).
[[nodiscard]] std::string oracle_line(const FinalState& state);

}  // namespace reseq::load
