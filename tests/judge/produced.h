// Produced: what the batches of an application send when they are decided again, and its comparison with what is in
// the topics: the same records, not one more or less, those of one document in one partition and in the same order.
// The comparison is over all partitions of a topic, because a batch does not choose one: the producer does, by the key
// and the number of partitions, which is the topic's own business. That it always chose the same one is checked.
// Thread rule: one thread.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "runtime/application/application.h"
#include "tests/judge/history.h"
#include "tests/judge/verdict.h"

namespace reseq::judge {

// Where a record was found, or what it was made of: an input, or the meta row of the batch whose timer it is.
struct Source {
  Place place;
  Offset offset;
};

class Produced {
 public:
  explicit Produced(std::size_t topics) : decided_(topics) {}

  // REQUIRES: the records of one document are added in the order in which they were decided.
  void add(std::size_t topic, const Record& record, const Source& from);

  // Sorts; call it once.
  void compare(const runtime::Application& application, const History& history, Verdict& verdict);

 private:
  struct One {
    Digest fingerprint;
    std::uint64_t key = 0;  // hash of the key
    bool keyed = false;     // the key decides the partition: there is one, and it is not empty
    Source source;
  };
  using All = std::vector<One>;

  [[nodiscard]] static One one_of(const Record& record, const Source& source);
  [[nodiscard]] static All committed(const History& history, std::size_t topic);
  // None: the records of each document are the same ones in the same order.
  [[nodiscard]] static std::optional<std::string> other_order(const runtime::Application& application,
                                                              const History& history, All& decided, All& committed);
  static void compare_places(const runtime::Application& application, const History& history, const All& committed,
                             Verdict& verdict);
  void compare(const runtime::Application& application, const History& history, std::size_t topic, Verdict& verdict);

  std::vector<All> decided_;  // by topic
};

// `topic[partition]@offset` and the record.
[[nodiscard]] std::string told(const runtime::Application& application, const History& history, const Source& where);

}  // namespace reseq::judge
