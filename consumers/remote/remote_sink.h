// RemoteSink: a member of a consumer group that moves a topic to a server, over several connections at once. It reads,
// gathers loads, hands them to writers, and commits what is done.
// Invariants: nothing is made anew behind committed offsets;
// the committed offset of a partition never passes a record that is neither stored nor a dead letter; what
// is on its way is bounded by bytes; it goes on polling while it waits for the server, so that it stays in its group;
// nothing is committed for a partition that was taken away.
// Thread rule: one thread, beside those of its writers; the tally may be read by any.
#pragma once

#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include "base/result.h"
#include "consumers/remote/lanes.h"
#include "consumers/remote/load.h"
#include "consumers/remote/remote_store.h"
#include "consumers/remote/start.h"
#include "consumers/remote/tally.h"
#include "consumers/remote/upkeep.h"
#include "consumers/remote/writer.h"
#include "consumers/stage/in_flight.h"
#include "kafka/admin.h"
#include "kafka/group_consumer.h"

namespace reseq::remote {

struct RemoteSinkOptions {
  std::string topic;
  std::string group;
  std::string instance_id{};  // static member: its partitions wait for it over a restart; empty = dynamic
  sink::Check check = sink::Check::kVersions;
  std::string target{};  // with Check::kOff: the target whose results are read; empty = all
  LoadLimits load{};
  std::size_t connections = 2;
  std::size_t in_flight_max = 2;  // batches of a partition that are written at once; 1 if the store keeps positions
  std::uint64_t bytes_max = 64 * 1024 * 1024;  // read and not done
  std::chrono::milliseconds commit_interval{1'000};
  std::chrono::milliseconds session_timeout{10'000};
  std::chrono::milliseconds tend_interval{60'000};
  BackOffLimits back_off{};
  bool skip_lost = false;  // go on where the log begins when it does not go back to a position any more
};

class RemoteSink {
 public:
  // REQUIRES: all of them outlive the sink. The letters are of this sink alone: they end with it.
  RemoteSink(RemoteSinkOptions options, kafka::Connection connection, OpenRemoteStore open, DeadLetters& letters,
             Tally& tally);
  ~RemoteSink();
  RemoteSink(const RemoteSink&) = delete;
  RemoteSink& operator=(const RemoteSink&) = delete;

  // Prepares the store, waiting for the server as long as `stop` allows, and joins the group.
  Result<> start(const std::function<bool()>& stop);
  // One step, of some ten milliseconds at most when nothing is to be done. An error ends the program.
  Result<> step();
  // Writes what was read, as far as the server takes it within the limit, commits, and leaves the group.
  Result<> finish(std::chrono::milliseconds limit);

 private:
  struct Reading {
    Offset position;  // behind what was read; where the next load begins
    Offset done;      // behind what is done, as far as it was committed to the group
    Offset end;       // of the log, as far as known
    std::unique_ptr<LoadBuilder> open;
  };

  Result<> open_stores(const std::function<bool()>& stop);
  Result<> prepare();
  void on_rebalance(const kafka::Rebalance& change);
  // Asks where the partitions of the assignment are read from, and begins. An error that passes, and every one of the
  // store, which was good at the start: later again.
  Result<> begin_reading();
  struct NotBegun {
    Error error;
    bool of_store = false;
  };
  std::optional<NotBegun> begin_partitions();
  void tell_of_missing_begins(const std::vector<kafka::PlainOffset>& begins, const std::map<Partition, Offset>& known);
  // Somebody has emptied it, or made it anew by hand. Told only: it may be right, when nothing could be stored.
  Result<> tell_of_emptied_place(std::span<const LogRange> logs, const std::map<Partition, Offset>& known);
  Result<std::map<Partition, Offset>> known_positions();
  Result<> begin_partition(Partition partition, std::optional<Offset> position, Offset from, Offset end);
  Result<> read();
  Result<> take_record(kafka::PlainRecord record);
  void follow_positions();
  void hand_over(Partition partition, Reading& reading);
  void hand_over_all();
  void hand_over_due(Clock::time_point now);
  // What it was worth. False: its partition is not the one of then any more.
  bool account(const Finished& finished);
  Result<> take_finished(std::chrono::milliseconds limit);
  Result<> make_room();
  Result<> rest();
  Result<> go_on();
  Result<> commit();
  // What was read and is not done is forgotten; it is read again by whoever owns the partition then.
  void forget();
  // The group or the store said that somebody else is at work: nothing is read until the group had time to tell.
  Result<> distrust(std::string_view why, const std::string& words);
  void publish(Clock::time_point now);

  const RemoteSinkOptions options_;
  const kafka::Connection connection_;
  const OpenRemoteStore open_;
  DeadLetters& letters_;
  Tally& tally_;
  Lanes lanes_;
  Pulse pulse_;
  std::unique_ptr<kafka::Admin> admin_;
  std::unique_ptr<RemoteStore> asked_;   // by this thread
  std::unique_ptr<RemoteStore> tended_;  // by its own
  std::unique_ptr<Upkeep> upkeep_;
  std::vector<std::unique_ptr<RemoteStore>> stores_;
  std::vector<std::thread> threads_;
  std::unique_ptr<kafka::GroupConsumer> consumer_;

  std::vector<Partition> owned_;
  std::map<Partition, Reading> reading_;
  std::uint64_t open_bytes_ = 0;  // of the loads that are open in reading_
  stage::InFlight in_flight_;
  std::atomic<bool> begins_reading_ = false;  // there is an assignment that is not read yet; read by the upkeep
  bool begin_failed_ = false;                 // this was told as trouble
  bool emptied_told_ = false;
  bool resting_ = false;
  Clock::time_point begin_at_;
  std::optional<Clock::time_point> full_since_;
  Clock::time_point committed_at_;
  Clock::time_point looked_at_;
  Clock::time_point published_at_;
};

}  // namespace reseq::remote
