// History: every record that was ever committed to the topics of an application, in the order of each log, packed: a
// record takes its bytes and about 40 more. Large payloads that are equal are kept once: a request, its work, its
// result and its output carry the same one. The checks read nothing else.
// Thread rule: one thread. Records are views: they live as long as the history.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "base/arena.h"
#include "tests/judge/record.h"

namespace reseq::judge {

class History {
 public:
  History() = default;
  History(const History&) = delete;
  History& operator=(const History&) = delete;

  // The records of one place.
  class Log {
   public:
    [[nodiscard]] std::size_t size() const { return entries_.size(); }
    [[nodiscard]] bool empty() const { return entries_.empty(); }
    [[nodiscard]] Record operator[](std::size_t i) const;
    [[nodiscard]] Offset offset(std::size_t i) const { return entries_[i].offset; }
    // Place in this log of the first record at or behind `offset`.
    [[nodiscard]] std::size_t at_or_behind(Offset offset) const;

   private:
    friend class History;
    struct Entry {
      Offset offset;
      UnixMs timestamp;
      const char* packed;
    };
    const std::deque<std::string_view>* names_ = nullptr;
    std::vector<Entry> entries_;
  };

  // REQUIRES: offsets rise in each place.
  void add(Place place, const Record& record);

  [[nodiscard]] const Log& log(Place place) const;
  // Places that hold records, by topic and partition.
  [[nodiscard]] const std::map<Place, Log>& logs() const { return logs_; }
  [[nodiscard]] std::uint64_t records() const { return records_; }

 private:
  std::uint32_t number_of_name(std::string_view name);
  std::string_view shared(std::string_view payload);

  Arena arena_;
  std::map<Place, Log> logs_;
  std::deque<std::string_view> names_;  // of headers
  std::unordered_map<std::string_view, std::uint32_t> numbers_;
  std::unordered_set<std::string_view> large_;  // payloads
  std::uint64_t records_ = 0;
};

}  // namespace reseq::judge
