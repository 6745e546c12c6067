// Contestants of the benchmark, and the application that each run of one gets for itself.
// A contestant is a program that reads APPLICATION.requests (and .commands) as a member of the group APPLICATION,
// commits its offsets there, writes APPLICATION.work (and .output.TARGET), and ends with exit code 0 at SIGTERM.
// Thread rule: one thread.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "kafka/settings.h"

namespace reseq::bench {

// What the whole benchmark shares.
struct Site {
  std::string bootstrap_servers;
  std::string folder;             // for configurations, logs and state
  std::string streams;            // program of the Kafka Streams peer; empty: without it
  std::string instructions = {};  // program that counts instructions; empty: without them
  std::string postgres = {};      // URL of a database; empty: without its sink
  std::string retry_topics = {};  // program of the peer with topics of retries; empty: without it
  std::string resequencers = {};  // program of the peers that resequence in memory; empty: without them
  std::string opensearch = {};    // URL of a node; empty: without its sink

  [[nodiscard]] kafka::Connection connection() const;
};

enum class Mode : unsigned char {
  kIntake,  // requests -> work
  kLife,    // requests -> work -> echo -> commands -> outputs
};

// Of the inputs, and how many processes share them.
struct Layout {
  int partitions = 4;
  int instances = 1;
  std::string settings = {};   // lines of the configuration; what they do not name is a default
  std::string order = {};      // of both targets; empty: the default
  bool beside_newest = false;  // it is that of `catalogue` alone
};

// Topics and a folder that nobody used before; both are gone with it.
class Application {
 public:
  Application(const Site& site, const std::string& contestant, Mode mode, Layout layout = {});
  ~Application();
  Application(const Application&) = delete;
  Application& operator=(const Application&) = delete;

  [[nodiscard]] const Site& site() const { return site_; }
  [[nodiscard]] Mode mode() const { return mode_; }
  [[nodiscard]] const std::string& id() const { return id_; }
  [[nodiscard]] std::string topic(const std::string& role) const { return id_ + "." + role; }
  [[nodiscard]] std::string folder() const { return site_.folder + "/" + id_; }
  [[nodiscard]] int instances() const { return layout_.instances; }
  [[nodiscard]] int partitions() const { return layout_.partitions; }
  // Where a process writes what it has to say.
  [[nodiscard]] std::string log(int instance = 1) const {
    return folder() + "/contestant." + std::to_string(instance) + ".log";
  }
  // Other lines from the next start on.
  void configure(const std::string& settings);
  // Of the resequencer, for each of its processes.
  [[nodiscard]] std::string configuration(int instance = 1) const {
    return folder() + "/resequencer." + std::to_string(instance) + ".toml";
  }

 private:
  void write_configuration(int instance) const;

  const Site& site_;
  Mode mode_;
  Layout layout_;
  std::string id_;
};

struct Contestant {
  std::string name;
  bool releases = true;  // knows commands: takes part in Mode::kLife
  std::function<std::vector<std::string>(const Application&, int instance)> argv;
};

inline const std::string kCeiling = "ceiling";
inline const std::string kResequencer = "resequencer";
inline const std::string kStreams = "streams-rocksdb";
inline const std::string kStreamsInMemory = "streams-memory";

// All that can run here.
[[nodiscard]] std::vector<Contestant> contestants(const Site& site);
[[nodiscard]] Contestant resequencer(const Site& site);

}  // namespace reseq::bench
