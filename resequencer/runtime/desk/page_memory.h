// PageMemory: the last quarter of an hour of the whole application, for a page that is opened after something has
// happened: the points of its charts, and which instances have answered.
// Invariants: bounded, whatever answers: kPointsMax points of a few hundred bytes and kInstancesMax names.
// Thread rule: one thread.
#pragma once

#include <cstddef>
#include <deque>
#include <map>
#include <string>

#include "admin/answers.h"
#include "config/settings.h"
#include "model/ids.h"

namespace reseq::runtime {

// What the charts show of one moment: {"t", "outcomes", "lag", "live", "oldest"}, each of the latter with a number, or
// null, for each line. What stands in partitions is told when all of them are answered for: a part of it would look
// like a fall.
[[nodiscard]] admin::Json chart_point(const admin::Answers& answers, UnixMs now);

// Whether this is what another instance of the application `own` belongs to says of itself: not what was asked to write
// about another application, nor another question's answer.
[[nodiscard]] bool tells_of_another(const admin::Json& reply, const config::Settings& own);

class PageMemory {
 public:
  static constexpr Milliseconds kSpan{15 * 60'000};
  // From one look to the next one; one that comes a little earlier is not lost.
  static constexpr Milliseconds kEvery{15'000};
  static constexpr Milliseconds kBetweenPoints{14'000};
  static constexpr std::size_t kPointsMax = 65;
  static constexpr std::size_t kInstancesMax = 1'000;
  static constexpr std::size_t kNameBytesMax = 256;

  // What was answered now, as often as one likes.
  void take(const admin::Answers& answers, UnixMs now);
  // One reply that was written then: an older one than is known of its instance says nothing new.
  void hear(const admin::Json& reply, UnixMs at);
  // All that another memory has heard.
  void hear(const PageMemory& other);

  // Points, oldest first.
  [[nodiscard]] admin::Json history(UnixMs now) const;
  // Of instances that are not in `answers` and have answered within kSpan: {"instance", "host", "version", "workers",
  // "heard"}.
  [[nodiscard]] admin::Json silent(const admin::Answers& answers, UnixMs now) const;

 private:
  struct Heard {
    admin::Json who;
    UnixMs at;
  };
  void keep(const std::string& instance, Heard heard);

  std::deque<admin::Json> points_;
  std::map<std::string, Heard> instances_;
  UnixMs pointed_at_;
};

}  // namespace reseq::runtime
