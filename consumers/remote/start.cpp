#include "consumers/remote/start.h"

#include <algorithm>
#include <string>

#include "kafka/settings.h"

namespace reseq::remote {
namespace {

std::string to_the_beginning(const std::string& group, const std::string& topic) {
  return "kafka-consumer-groups.sh --bootstrap-server ... --group " + group + " --topic " + topic +
         " --reset-offsets --to-earliest --execute (or another --group)";
}

Error made_anew(const std::string& place, const std::string& group, const std::string& topic,
                const kafka::PlainOffset& committed) {
  return Error{ErrorClass::kInvalid, 0,
               place + " is not there, but group " + group + " has written partition " +
                   std::to_string(committed.partition.value()) + " up to offset " +
                   std::to_string(committed.offset.value()) +
                   " to it: made anew it would lack all of that. Stop all instances, then restore it, or begin anew: " +
                   to_the_beginning(group, topic)};
}

}  // namespace

Result<Offset> start_of(Partition partition, std::optional<Offset> position, const LogRange& log, bool skip_lost) {
  if (!position) return log.begin;
  const std::string read =
      "partition " + std::to_string(partition.value()) + " was read up to offset " + std::to_string(position->value());
  if (*position > log.end)
    return Error{
        ErrorClass::kInvalid, 0,
        read + ", but the topic ends at " + std::to_string(log.end.value()) +
            ": it was made anew. Load it into a new place, or delete the positions that belong to the old one"};
  if (*position >= log.begin) return *position;
  if (skip_lost) return log.begin;
  return Error{ErrorClass::kInvalid, 0,
               read + ", but the topic starts at " + std::to_string(log.begin.value()) +
                   ": releases are lost. --skip-lost goes on there; to be right again, load into a new place"};
}

bool has_read(const LogRange& log, Offset committed) {
  // Set back to the beginning, or never past it.
  if (committed == log.begin && (log.begin < log.end || log.begin == Offset(0))) return false;
  return committed >= log.begin;
}

std::string words_of_emptied(bool store_keeps_positions, const std::string& group, const std::string& topic) {
  return "nothing is in it, not even a delete, but these partitions were read before: if it was emptied or made anew, "
         "it lacks all that was written until then. Stop all instances, then restore it, or begin anew: " +
         (store_keeps_positions ? "delete the rows of topic " + topic + " in its table of positions"
                                : to_the_beginning(group, topic));
}

Result<> judge_missing(RemoteStore& store, kafka::Admin& admin, const std::string& group, const std::string& topic) {
  auto there = store.is_there();
  if (!there || there.value()) return there ? Result<>(Done{}) : Result<>(there.error());
  auto committed = admin.committed(group, topic, kafka::kBrokerAnswerLimit);
  auto begins = admin.begins(topic, kafka::kBrokerAnswerLimit);
  auto ends = admin.stable_ends(topic, kafka::kBrokerAnswerLimit);
  if (!committed) return committed.error();
  if (!begins || !ends) return begins ? ends.error() : begins.error();
  // Once more: another instance may have made it, and written, since then.
  there = store.is_there();
  if (!there || there.value()) return there ? Result<>(Done{}) : Result<>(there.error());
  for (const kafka::PlainOffset& one : committed.value()) {
    const auto place = static_cast<std::size_t>(one.partition.value());
    if (one.offset == kNoOffset || place >= std::min(begins.value().size(), ends.value().size())) continue;
    if (!has_read({.begin = begins.value()[place].offset, .end = ends.value()[place].offset}, one.offset)) continue;
    return made_anew(store.place(), group, topic, one);
  }
  return Done{};
}

}  // namespace reseq::remote
