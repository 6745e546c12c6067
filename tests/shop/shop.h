// Shop: an application with real processes, as its users see it: a producer that sends requests, a pipeline that sends
// commands, and readers with read_committed of everything that comes out.
//
// An order is written `[epoch:]seq[.revision]`, as in tests/scenarios; without `epoch:` the record has no epoch header.
// What is read is told in one line per record, in the order of the topic:
//
//   work           a 2:5.1 -> search,catalogue      a 6 delete -> search
//   outputs        a 5                              a 6 delete
//   dead letters   a 5 unregistered
//   events         a 5 released S1                  a 4 dropped S4 superseded      a 5 overdue      reset 2
//
// An epoch or revision of 0 is left out.
// Thread rule: one thread.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "kafka/admin.h"
#include "kafka/group_consumer.h"
#include "kafka/plain_producer.h"
#include "tests/e2e/resequencer_run.h"
#include "tests/support/process.h"

namespace reseq::test {

using TextHeaders = std::vector<std::pair<std::string, std::string>>;
using Payload = std::optional<std::string>;

// A record as its reader sees it.
struct Seen {
  std::string key;
  Payload payload;
  TextHeaders headers;
  int partition = 0;
  // Value of the last header of that name; empty when there is none.
  [[nodiscard]] std::string header(const std::string& name) const;
  // As header(), converted; 0 when there is none.
  [[nodiscard]] std::uint64_t number(const std::string& name) const;
};

class Shop {
 public:
  // Makes the topics; nothing runs yet. `toml` holds what is special, with the [[target]] tables at its end.
  explicit Shop(const std::string& toml, int partitions = 1);
  ~Shop();
  Shop(const Shop&) = delete;
  Shop& operator=(const Shop&) = delete;

  // As of ResequencerRun.
  void run_program(const std::string& name) { run_.run_program(name); }
  // Processes by instance. `environment` as of ResequencerRun::start.
  void start(int instance = 1, const std::vector<std::string>& environment = {});
  void kill(int instance = 1);
  // SIGTERM; its exit code.
  int stop(int instance = 1);
  // The exit code of a process that ends by itself.
  int wait_for_end(int instance = 1);
  // Waits until a process has stopped itself (SIGSTOP). False: it did not.
  [[nodiscard]] bool wait_for_stop(int instance = 1);
  // Lets a stopped process go on.
  void resume(int instance = 1);
  [[nodiscard]] std::string log(int instance = 1) const;
  // REQUIRES: no process runs.
  void make_anew(const std::string& role) { run_.make_anew(role); }

  // What is sent is acknowledged when settle(), or the next start, kill or stop of a process, returns.
  void send(const std::string& role, const std::optional<std::string>& key, const Payload& payload,
            const TextHeaders& headers, std::optional<int> partition = {});
  void request(const std::string& id, const std::string& order, const TextHeaders& more = {});
  // A result for `target` whose payload is "<id> <order>".
  void result(const std::string& id, const std::string& order, const std::string& target, const TextHeaders& more = {});
  // A result as the contract of a pipeline wants it: key and all reseq-* headers of the work record.
  void answer(const Seen& work, const std::string& target);
  // A RESET on every partition.
  void reset(std::uint32_t epoch);
  void flush();

  // Waits until each of the processes has a partition, and nobody else has it.
  void wait_for_owners();
  // Waits until every input is decided, and everything that came of it can be read. Throws when that takes too long or
  // a process has ended.
  void settle();

  [[nodiscard]] const ResequencerRun& application() const { return run_; }
  // The configuration of a process, for a subcommand.
  [[nodiscard]] std::string config_file(int instance = 1) { return run_.config_file(instance); }

  // All records of <application>.<role>, one line each. What is open is waited for.
  [[nodiscard]] std::vector<std::string> work();
  [[nodiscard]] std::vector<std::string> released(const std::string& target);
  [[nodiscard]] std::vector<std::string> dead_letters();
  [[nodiscard]] std::vector<std::string> events();
  [[nodiscard]] const std::vector<Seen>& records(const std::string& role) { return records_of_topic(run_.topic(role)); }
  [[nodiscard]] const std::vector<Seen>& records_of_topic(const std::string& topic);

 private:
  struct Reader {
    std::unique_ptr<kafka::Cluster> cluster;
    std::unique_ptr<kafka::LogReader> outsider;  // sees what is not committed yet
    std::unique_ptr<kafka::GroupConsumer> consumer;
    std::vector<Seen> seen;
  };
  Reader& reader(const std::string& topic);
  // Where a read_committed reader of the topic gets to once no transaction is open in it.
  [[nodiscard]] std::vector<kafka::PlainOffset> closed_ends(const std::string& topic, kafka::LogReader& outsider);
  void wait_for_members();
  void require_running();

  int partitions_;
  ResequencerRun run_;
  std::map<int, std::unique_ptr<Process>> processes_;
  std::unique_ptr<kafka::Admin> admin_;
  std::unique_ptr<kafka::PlainProducer> producer_;
  bool requested_ = false;                 // not acknowledged yet, perhaps
  std::map<std::string, Reader> readers_;  // by topic
};

}  // namespace reseq::test
