// An application with one target, and one partition if not told otherwise, on a simulated Kafka, as a process of it has
// asked the brokers.
// Thread rule: one thread.
#pragma once

#include <memory>
#include <string>
#include <utility>

#include "runtime/application/application.h"
#include "runtime/takeover/shelf.h"
#include "tests/simulation/kafka_rig.h"
#include "tests/support/process.h"

namespace reseq::runtime {

class SimulatedApplication : public simulation::SimulatedKafka {
 protected:
  explicit SimulatedApplication(std::int32_t partitions = 1, config::Settings from = of_one_target())
      : configured(std::move(from)) {
    for (const std::string& name : application.topics.names())
      broker.create_topic(name, {.partitions = partitions, .max_message_bytes = 1'000'000});
    simulation::ClientSettings clients = SimulatedKafka::settings("1");
    clients.topics = application.topics.names();
    kafka = std::make_unique<simulation::SimulatedCluster>(broker, process, clients);
    test::good(application.ask(*kafka, simulation::kLimit));
  }

  static config::Settings of_one_target() {
    config::Settings settings;
    settings.application_id = "app";
    settings.targets = {{.name = "search"}};
    return settings;
  }

  test::TempDir folder;
  config::Settings configured;
  Application application{configured};
  simulation::ProcessClock clock{time};
  Shelf shelf{folder.path(), "boot", {}};
  std::unique_ptr<simulation::SimulatedCluster> kafka;
};

}  // namespace reseq::runtime
