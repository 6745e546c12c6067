// Office: an application with three instances on a real broker, and whoever operates it: with the command line, with
// requests of their own on the admin topic, and over HTTP.
// Thread rule: one thread.
#pragma once

#include <functional>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "kafka/plain_producer.h"
#include "tests/e2e/fleet.h"
#include "tests/e2e/resequencer_run.h"

namespace reseq::test {

struct Printed {
  int code = 0;
  std::string text;  // stdout and stderr
};

class Office {
 public:
  static constexpr int kInstances = 3;
  static constexpr int kPartitions = 4;

  // All instances have their partitions when it is there. Throws when they do not come up.
  explicit Office(const std::string& more_toml);

  // A subcommand to its end, without --config, which is added.
  Printed run(std::vector<std::string> subcommand);
  // One that waits for nobody, so that it has no --timeout-ms.
  Printed run_alone(std::vector<std::string> subcommand);
  // One that would go on: interrupted when what it has printed is enough, or after a minute.
  Printed run_until(std::vector<std::string> subcommand, const std::function<bool(const std::string&)>& enough);
  // The first with -o json; throws when it prints no JSON or fails.
  nlohmann::json run_json(std::vector<std::string> subcommand);

  void request(const std::string& id, std::uint64_t sequence);
  void result(const std::string& id, std::uint64_t sequence, const std::string& target);
  void garbage();
  void send(const std::string& role, const std::string& key, const std::vector<Header>& headers,
            std::optional<UnixMs> written = {}, std::optional<Partition> partition = {});
  // Everything sent is decided.
  void settle();

  // Sends bytes as they are to the admin topic.
  void ask(const std::string& payload, const std::vector<Header>& headers);
  // Payloads of a topic, in order, from its beginning.
  [[nodiscard]] std::vector<std::string> payloads(const std::string& role);
  // Replies with this correlation id, once there are `count` of them or no more come.
  [[nodiscard]] std::vector<nlohmann::json> replies(const std::string& correlation_id, std::size_t count);

  // Body and status of GET on an instance.
  struct Got {
    int status = 0;
    std::string body;
  };
  [[nodiscard]] Got get(int instance, const std::string& path);
  // Where an instance serves it.
  [[nodiscard]] int http_port(int instance);

  [[nodiscard]] Fleet& fleet() { return *fleet_; }
  [[nodiscard]] ResequencerRun& application() { return application_; }
  [[nodiscard]] std::string path(const std::string& name) const { return folder_.path() + "/" + name; }

 private:
  TempDir folder_;
  ResequencerRun application_;
  std::unique_ptr<Fleet> fleet_;
  std::unique_ptr<kafka::PlainProducer> producer_;
  bool requested_ = false;  // not acknowledged yet, perhaps
  int files_ = 0;
};

}  // namespace reseq::test
