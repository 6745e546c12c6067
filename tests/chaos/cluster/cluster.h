// Cluster: one or three real Kafka brokers (KRaft, each also a controller) on loopback, started by script/kafka, each
// behind a proxy: clients get to know only the proxy's address. Brokers and controllers talk directly to each other.
// With three, every topic has three replicas and needs two of them (min.insync.replicas).
// Clients are kept away from a broker that starts until the markers that it may have skipped are written
// (skipped_markers.h): a defect that no client can survive would hide what the run is about.
// Invariants: a broker is signalled by its pid alone; its addresses and its folder stay the same over restarts; all
// brokers end with this object, and with this process.
// Thread rule: one thread at a time; the proxy may be used by any.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "tests/chaos/cluster/broker_questions.h"
#include "tests/chaos/cluster/marker_repair.h"
#include "tests/chaos/proxy/proxy.h"
#include "tests/support/process.h"

namespace reseq::chaos {

struct ClusterOptions {
  int brokers = 1;     // 1 or 3
  std::string folder;  // made if need be; data and logs of broker N are in folder/N
  std::uint64_t seed = 1;
  // Further server.properties, of all brokers; they win.
  std::map<std::string, std::string> properties = {};
};

class Cluster {
 public:
  using Limit = std::chrono::milliseconds;

  // Starts all brokers and waits until they answer. Throws when they do not.
  explicit Cluster(ClusterOptions options);
  ~Cluster();  // kill -9; the folders stay
  Cluster(const Cluster&) = delete;
  Cluster& operator=(const Cluster&) = delete;

  // For clients: through the proxy.
  [[nodiscard]] std::string bootstrap_servers() const;
  // Past the proxy, for the judge and for questions; other addresses are learnt from the brokers and lead through it.
  [[nodiscard]] std::uint16_t direct_port(int broker) const { return at(broker).port; }
  [[nodiscard]] Proxy& proxy() { return *proxy_; }
  [[nodiscard]] int brokers() const { return static_cast<int>(nodes_.size()); }
  // Where a broker stands: a client that says the same with client.rack may read from it, though another one leads.
  [[nodiscard]] static std::string rack(int broker) { return "rack-" + std::to_string(broker); }

  // Brokers are numbered from 1, as their node.id.
  void kill(int broker);  // SIGKILL; returns when the process is gone
  void kill_all();        // all of them before the first is gone
  void stop(int broker);  // SIGSTOP; returns when it has stopped answering
  void cont(int broker);  // SIGCONT
  // Starts a broker that was killed, without waiting for it: with two of three dead none can get ready. Clients reach
  // it after a tend() that finds every partition led by a broker that answers.
  void start(int broker);
  // To be called often. Looks for skipped markers, and lets clients in where there are none left.
  void tend();
  // What was found since the last call.
  [[nodiscard]] MarkerNews take_news() { return std::exchange(news_, {}); }
  // Proofs from the logs of all brokers so far that Kafka may have torn a transaction (deposed_coordinators.h).
  [[nodiscard]] std::vector<std::string> torn() const;
  [[nodiscard]] bool alive(int broker) const;    // its process is there, perhaps stopped
  [[nodiscard]] bool stopped(int broker) const;  // by stop()

  // True: every broker is alive, not stopped, open to clients, and every partition of every topic has a leader and all
  // its replicas in sync. Killing another broker before that makes partitions unavailable (never wrong).
  [[nodiscard]] bool healthy();
  // Continues and starts what is stopped or dead, tends, and waits for healthy(). False: not within the limit. Rules of
  // the proxy that keep clients away go on until then: clear() them behind it.
  [[nodiscard]] bool heal(Limit limit);

  // Number of the broker; 0 = none, or nobody knows at the moment. Asked anew each time.
  [[nodiscard]] int leader(const std::string& topic, std::int32_t partition);
  [[nodiscard]] int group_coordinator(const std::string& group_id);
  [[nodiscard]] int transaction_coordinator(const std::string& transactional_id);

 private:
  struct Node {
    std::uint16_t port = 0;  // for clients, behind the proxy
    std::uint16_t inner_port = 0;
    std::uint16_t controller_port = 0;
    std::string folder;
    MarkerRepair markers;
    RuleId gate = 0;  // refuses its clients; 0 = it is open
    int lives = 0;    // started so often; the log of life N is broker.N.log when the next has begun
    bool stopped = false;
    std::unique_ptr<test::Process> starter = {};  // script/kafka start
  };

  [[nodiscard]] const Node& at(int broker) const { return nodes_.at(static_cast<std::size_t>(broker - 1)); }
  [[nodiscard]] Node& at(int broker) { return nodes_.at(static_cast<std::size_t>(broker - 1)); }
  void write_properties(int broker) const;
  void signal_kill(int broker);
  void await_death(int broker);
  [[nodiscard]] int pid(int broker) const;  // 0 = not running
  template <typename Ask>
  int ask_any(Ask ask);
  // What each broker says of the partitions; nothing: it does not answer.
  using Views = std::vector<std::optional<std::vector<PartitionFacts>>>;
  [[nodiscard]] Views ask_all() const;
  void open_if_mended(int broker, const Views& views);

  ClusterOptions options_;
  std::string cluster_id_;
  std::vector<Node> nodes_;
  std::unique_ptr<Proxy> proxy_;
  MarkerNews news_;
  std::chrono::steady_clock::time_point next_look_;
  std::unique_ptr<test::Process> watch_;  // ends the brokers when this process dies before its time
};

}  // namespace reseq::chaos
