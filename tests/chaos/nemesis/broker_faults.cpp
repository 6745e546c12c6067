// Faults of brokers: they die and freeze. What was acknowledged survives: a process that dies leaves its pages to the
// kernel, and with three brokers two have every record.
#include "tests/chaos/nemesis/faults.h"

namespace reseq::chaos {

namespace {

using std::chrono::milliseconds;

int any_broker(Scene& scene) {
  return 1 + static_cast<int>(scene.draw.below(static_cast<std::uint64_t>(scene.cluster.brokers())));
}

Harm kill_one(Scene& scene, int broker) {
  Cluster& cluster = scene.cluster;
  if (!cluster.alive(broker)) return nothing("broker " + std::to_string(broker) + " is dead");
  cluster.kill(broker);
  return {.what = "broker " + std::to_string(broker), .heal = [&cluster, broker] {
            if (!cluster.alive(broker)) cluster.start(broker);
          }};
}

Harm kill_any(Scene& scene) {
  return kill_one(scene, any_broker(scene));
}

Harm kill_coordinator(Scene& scene) {
  const std::string& application = scene.site.settings().application_id;
  const bool of_group = scene.draw.chance(500);
  const int broker = of_group ? scene.cluster.group_coordinator(application)
                              : scene.cluster.transaction_coordinator(application + ".r1.0");
  Harm harm = kill_one(scene, broker == 0 ? any_broker(scene) : broker);
  if (!harm.impossible) harm.what += of_group ? ", coordinator of the group" : ", coordinator of transactions of r1";
  return harm;
}

Harm kill_all(Scene& scene) {
  Cluster& cluster = scene.cluster;
  bool any = false;
  for (int broker = 1; broker <= cluster.brokers(); ++broker) any = any || cluster.alive(broker);
  if (!any) return nothing("all are dead");
  cluster.kill_all();
  return {.what = "all", .heal = [&cluster] {
            for (int broker = 1; broker <= cluster.brokers(); ++broker)
              if (!cluster.alive(broker)) cluster.start(broker);
          }};
}

Harm pause_one(Scene& scene) {
  Cluster& cluster = scene.cluster;
  const int broker = any_broker(scene);
  if (!cluster.alive(broker)) return nothing("broker " + std::to_string(broker) + " is dead");
  cluster.stop(broker);
  return {.what = "broker " + std::to_string(broker), .heal = [&cluster, broker] {
            if (cluster.alive(broker) && cluster.stopped(broker)) cluster.cont(broker);
          }};
}

}  // namespace

std::vector<FaultKind> broker_faults() {
  std::vector<FaultKind> all = {
      {.name = "broker_kill",
       .meaning = "kill -9 of a broker, which is started again",
       .shortest = milliseconds(500),
       .longest = milliseconds(10'000),
       .begin = kill_any},
      {.name = "brokers_kill_all",
       .meaning = "kill -9 of all brokers at once, which are started again",
       .shortest = milliseconds(500),
       .longest = milliseconds(10'000),
       .brokers_min = 3,
       .begin = kill_all},
      {.name = "coordinator_kill",
       .meaning = "kill -9 of the broker that coordinates the group or the transactions of a process",
       .shortest = milliseconds(2'000),
       .longest = milliseconds(15'000),
       .brokers_min = 3,
       .begin = kill_coordinator},
      {.name = "broker_pause",
       .meaning = "SIGSTOP of a broker for longer than any time-out of a client, then SIGCONT",
       .shortest = milliseconds(1'000),
       .longest = milliseconds(15'000),
       .begin = pause_one},
  };
  for (FaultKind& kind : all) kind.between_clients_and_brokers = true;
  return all;
}

}  // namespace reseq::chaos
