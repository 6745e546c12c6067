// Producers: what is written to `requests` and `control`, and what each of those records asked for, told by the one who
// wrote it. One counter per document; requests late, doubled, changed and reprocessed; epochs raised by header and by
// RESET; bad records of every reason that the bytes of a request can have.
// Thread rule: one thread.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "tests/judge/specification.h"
#include "tests/simulation/kafka/broker.h"
#include "tests/simulation/world/counters.h"
#include "tests/simulation/world/scenario.h"

namespace reseq::simulation {

// The header by which records say which document's order they are for; the contract says that it travels.
inline constexpr std::string_view kNumber = "x-number";
inline constexpr std::uint64_t kOutputBytesMax = 2'000;
inline constexpr std::uint64_t kWorkBytesMax = 8'000;
inline constexpr std::uint64_t kDeadLetterBytesMax = 3'000;

using judge::Asked;

class Producers {
 public:
  Producers(const Scenario& scenario, Broker& broker, Counters& counters);

  // Writes one record, or none when there is nothing to repeat.
  void write();

  // What a record of `requests` asked for by its header kNumber; null: nothing, it is bad or a RESET.
  [[nodiscard]] const Asked* asked(const StoredRecord& record) const;
  [[nodiscard]] const Asked& asked_under(std::uint64_t number) const { return asked_[number]; }

 private:
  struct Document {
    std::string id;
    std::optional<std::uint32_t> epoch;
    std::uint64_t next = 1;
    std::vector<std::uint64_t> skipped;
    std::vector<std::size_t> written;  // places in asked_, of its epoch
  };

  void write_next(Document& document);
  void write_again(Document& document);
  void write_changed(Document& document);
  void raise_epoch(Document& document);
  void reset();
  void write_bad(const Document& document);
  void spoil(StoredRecord& record, std::uint64_t how);
  void repeat_last(const Document& document, Asked& asked) const;
  void wish(Asked& asked);
  std::size_t for_others(std::size_t place);
  std::size_t note(Asked asked);
  [[nodiscard]] StoredRecord record_of(std::size_t asked) const;
  void append(const std::string& topic, Partition partition, StoredRecord record);
  [[nodiscard]] Partition partition_of(const std::string& id) const;

  const Scenario& scenario_;
  Broker& broker_;
  Counters& counters_;
  std::vector<Document> documents_;
  std::vector<Asked> asked_;
  std::uint32_t default_epoch_ = 0;
};

}  // namespace reseq::simulation
