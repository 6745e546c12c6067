// RemoteStore: one connection to a server that keeps documents. RemoteSink has several of them, one per writer thread,
// and one more for what is asked at the start, when partitions come, and for upkeep.
//
// Every store promises: with sink::Check::kVersions the version of a document only rises, whoever writes and in
// whatever order, and a delete is remembered with its version, so that an older release cannot bring it back. What is
// answered kStored or kNotNewer survives a crash of the server.
//
// There are two kinds of store.
//   Without positions  What counts is the offset that the group has committed. Several batches of a partition may be on
//                      their way at once, over several connections, and each may be written more than once.
//   With positions     The store keeps the next offset of each partition itself and moves it in the transaction that
//                      writes a batch, if and only if it stands where the batch begins. So a batch is written once, and
//                      an instance that lost its partition without knowing changes nothing. Batches of a partition come
//                      one after the other, each with `first` = `next` of the one before, but not over one connection.
// Thread rule: one thread at a time per object, but for interrupt(). Different objects are used at the same time.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "consumers/sink/change.h"
#include "kafka/plain_record.h"
#include "model/header.h"
#include "model/ids.h"

namespace reseq::remote {

// A document to be written or deleted. Views live as long as the batch.
struct Write {
  sink::Change change;
  std::span<const Header> headers;
  Offset offset;                               // of its record
  UnixMs timestamp;                            // of its record, 0 = none
  const kafka::PlainRecord* record = nullptr;  // of the frame, for a dead letter
};

// Some writes of one partition, no two of the same document. Their order does not matter.
struct Batch {
  Partition partition;
  Offset first;  // where the partition stands before it
  Offset next;   // and behind it; some offsets between them are no writes
  std::vector<Write> writes;
};

struct Answer {
  enum class Kind : unsigned char {
    kAgain,     // not now: too busy, connection lost, not asked. It goes again after a pause, and only it
    kStored,    // it is there
    kNotNewer,  // the store has this version or a newer one: no error, it was to be expected
    kRefused,   // this document will never be taken as it is; it becomes a dead letter
    kHeldBack,  // nothing was done, because another one of the batch was refused: goes again at once, without that one
  };
  Kind kind = Kind::kAgain;
  // kRefused, kAgain: the server's words, for people.
  std::string words{};
};

// One thing that --check looked at.
struct Finding {
  bool good = false;
  std::string what;   // "table documents has the column version"
  std::string to_do;  // what helps, when it is not good
};

class RemoteStore {
 public:
  virtual ~RemoteStore() = default;

  // Server and place in a few words, without secrets: "postgresql://127.0.0.1:5432/shop, table documents".
  [[nodiscard]] virtual std::string place() const = 0;

  // Is there something to write into, whatever its state? Otherwise prepare() would make it, empty. Asked only of
  // stores without positions of their own, because others know better whether it should be there.
  virtual Result<bool> is_there() { return true; }

  // Is nothing in it, not even a delete that is remembered? False also where it cannot be told. Asked when partitions
  // come that were read before; errors as of write().
  virtual Result<bool> is_empty() { return false; }

  // Makes what is missing (tables, templates, aliases) as far as the store is allowed to, and looks whether the rest is
  // usable. Called before the first write, on one connection. kRetriable: the server is not there, it is called again.
  // kInvalid: what is there cannot be used; the message says what to change. The program ends.
  virtual Result<> prepare() = 0;

  // For --check: looks at everything that prepare() and write() need, in an order that makes sense to read, and changes
  // nothing.
  virtual std::vector<Finding> check() = 0;

  // Writes a batch and waits for the server's answers. `answers` has one entry per write, each kAgain at first; those
  // that are known are set. A store that keeps positions stores all and moves the position, or nothing: then some are
  // kRefused and the others kHeldBack. The batch comes again with the rest, with the same `first` and `next`, perhaps
  // without any write. What does not fit one request is split by the store. Connects by itself when it has to.
  // An error is about all that is still kAgain:
  //   kRetriable, kTimeout  the server is away or busy: goes again after a pause, for ever
  //   kInvalid              no batch can be written as things are (rights, a table that is gone): the same, told as
  //                         an error, because somebody has to do something
  //   kFenced               the position of the partition is not `first`: somebody else has written it. What is read of
  //                         it is dropped
  //   kFatal                the program ends
  virtual Result<> write(const Batch& batch, std::span<Answer> answers) = 0;

  [[nodiscard]] virtual bool keeps_positions() const { return false; }
  // REQUIRES: keeps_positions(). The next offset of each of these partitions; one that was never written is absent.
  virtual Result<std::map<Partition, Offset>> positions(std::span<const Partition> partitions) {
    (void)partitions;
    return std::map<Partition, Offset>();
  }
  // REQUIRES: keeps_positions(). The partition is read from `from` on; `known` is what positions() told of it. Set
  // only if it is still that (absent = absent). kRetriable: it is not, ask again.
  virtual Result<> begin_at(Partition partition, std::optional<Offset> known, Offset from) {
    (void)partition;
    (void)known;
    (void)from;
    return Done{};
  }

  // Is the server there, with what is written into? Asked every few seconds while nothing is written, on the connection
  // of tend(). Cheap. Errors as of write().
  virtual Result<> ask() { return Done{}; }

  // Upkeep, such as removing deletes that are older than any replay. Called about once a minute, on a connection and a
  // thread of its own: it may take long. Its error is logged.
  virtual Result<> tend() { return Done{}; }

  // The program ends: what this connection is waiting for, now or later, is given up within a second, as an error that
  // may be tried again, or as a tend() that goes on next time. By any thread.
  virtual void interrupt() {}
};

using OpenRemoteStore = std::function<Result<std::unique_ptr<RemoteStore>>()>;

}  // namespace reseq::remote
