// Producers: what is written to `requests`. One counter per document; requests late, doubled, changed and reprocessed;
// epochs raised by header and by RESET.
// Thread rule: one thread.
#pragma once

#include <array>
#include <deque>
#include <optional>
#include <vector>

#include "tests/property/history.h"
#include "tests/property/model.h"
#include "tests/property/script.h"

namespace reseq::property {

// The two input topics. A record's offset is its index.
struct Logs {
  std::deque<Input> requests;
  std::deque<Input> commands;

  void write(Log log, const Command& command);
};

[[nodiscard]] std::size_t document_of(const Step& step, const Model& model);
// The explicit list of a registration, or none: routes decide.
[[nodiscard]] std::optional<TargetSet> explicit_targets(const Step& step, const Model& model);

class Producers {
 public:
  Producers(const Model& model, Logs& logs);

  // Plays the step if it is one of producers, else does nothing.
  void play(const Step& step);

 private:
  struct Number {
    std::optional<Epoch> epoch;
    std::uint32_t sequence = 0;
  };
  struct Producer {
    std::optional<Epoch> epoch;
    std::uint32_t next = 1;
    std::vector<Number> gaps;
    std::vector<Request> written;
  };

  void write(std::size_t document, const Number& number, const Step& step, Op op);
  void give_payload(Request& request, const Step& step);
  void write_next(const Step& step, Op op);
  void write_late(const Step& step);
  void write_again(const Step& step);
  void start_again(const Step& step);
  void reset(const Step& step);
  void write_refused(const Step& step);

  const Model& model_;
  Logs& logs_;
  std::array<Producer, kDocuments> producers_;
  std::uint64_t payloads_ = 0;
};

}  // namespace reseq::property
