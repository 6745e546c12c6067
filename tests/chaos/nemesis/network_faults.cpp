// Faults of the network between clients and brokers, by rules of the proxy. All of them heal when the rule is removed:
// what was held is delivered then, connections that lost something are reset.
#include <memory>
#include <string>
#include <vector>

#include "tests/chaos/nemesis/faults.h"

namespace reseq::chaos {

namespace {

using std::chrono::milliseconds;

struct Victim {
  Match match;
  std::string name;
  std::string process = {};  // empty: more than one
};

// One resequencer, all clients (producers and pipeline as well), or all of one broker.
Victim any_victim(Scene& scene) {
  const std::uint64_t drawn = scene.draw.below(10);
  if (drawn < 2) return {.match = {}, .name = "all clients"};
  if (drawn < 4) {
    const int broker = 1 + static_cast<int>(scene.draw.below(static_cast<std::uint64_t>(scene.cluster.brokers())));
    return {.match = {.broker = broker}, .name = "all clients at broker " + std::to_string(broker)};
  }
  const std::string& name = any_resequencer(scene).process->name();
  return {.match = {.client = scene.site.client_id(name)}, .name = name, .process = name};
}

// `victim`: empty, or the only process that sees anything of it, apart from what others see of one that is gone.
// `done`: it has done something already.
Harm by_rule(Scene& scene, const Rule& rule, const std::string& victim, const std::string& what, bool done = false) {
  Proxy& proxy = scene.cluster.proxy();
  Chronicle& chronicle = scene.chronicle;
  const RuleId id = proxy.add(rule);
  return {.what = what,
          .heal =
              [&proxy, &chronicle, id, what] {
                proxy.remove(id);
                const RuleCounts counts = proxy.counts(id);
                chronicle.note("rule acted=" + std::to_string(counts.acted) +
                               " delivered=" + std::to_string(counts.delivered) +
                               " last_error=" + std::to_string(counts.last_error) + " " + what);
              },
          .excused = victim.empty() ? std::vector<Words>{{kLibraryError}}
                                    : std::vector<Words>{{victim + ": ", kLibraryError},
                                                         {victim + "-double: ", kLibraryError},  // has the same name
                                                         kLeaderLost},
          .acted = [&proxy, id, done] { return done || proxy.counts(id).acted > 0; }};
}

Harm delay(Scene& scene) {
  const Victim victim = any_victim(scene);
  const milliseconds by(1 + static_cast<int>(scene.draw.below(200)));
  return by_rule(scene, {.match = victim.match, .action = Delay{.by = by, .jitter = 2 * by}}, victim.process,
                 victim.name + " by " + std::to_string(by.count()) + " to " + std::to_string(3 * by.count()) + " ms");
}

Harm throttle(Scene& scene) {
  const Victim victim = any_victim(scene);
  const std::uint64_t rate = std::uint64_t{20'000} << scene.draw.below(5);
  return by_rule(scene, {.match = victim.match, .action = Throttle{.bytes_per_second = rate}}, victim.process,
                 victim.name + " to " + std::to_string(rate) + " bytes/s");
}

Harm cut(Scene& scene) {
  const Victim victim = any_victim(scene);
  const std::size_t now = scene.cluster.proxy().cut(victim.match);
  return by_rule(scene, {.match = victim.match, .action = Cut{}, .share = 0.02}, victim.process,
                 victim.name + ", " + std::to_string(now) + " connections at once, then one message of 50", now > 0);
}

Harm half_open(Scene& scene) {
  const Victim victim = any_victim(scene);
  return by_rule(scene, {.match = victim.match, .action = Swallow{}}, victim.process, victim.name);
}

Harm one_way(Scene& scene) {
  const Victim victim = any_victim(scene);
  const bool requests = scene.draw.chance(500);
  return by_rule(scene,
                 {.match = victim.match, .way = requests ? Way::kRequests : Way::kResponses, .action = Swallow{}},
                 victim.process, victim.name + (requests ? ", requests vanish" : ", responses vanish"));
}

Harm refuse(Scene& scene) {
  const int broker = 1 + static_cast<int>(scene.draw.below(static_cast<std::uint64_t>(scene.cluster.brokers())));
  const std::size_t now = scene.cluster.proxy().cut({.broker = broker});
  return by_rule(scene, {.match = {.broker = broker}, .action = Refuse{}}, "", "broker " + std::to_string(broker),
                 now > 0);
}

Harm lost_commit_reply(Scene& scene) {
  const std::string name = any_resequencer(scene).process->name();
  Rule rule = lose_commit_reply(scene.site.transactional_ids(name));
  rule.limit = 1 + scene.draw.below(4);
  return by_rule(scene, rule, name, name);
}

// The EndTxn is delivered behind the n-th answer of the next transaction to a request of that kind.
Harm held_commit(Scene& scene) {
  const std::string name = any_resequencer(scene).process->name();
  const Trigger until{.api = scene.draw.chance(500) ? Api::kProduce : Api::kAddPartitionsToTxn,
                      .count = 1 + scene.draw.below(3)};
  return by_rule(scene, hold_commit(scene.site.transactional_ids(name), until), name, name);
}

}  // namespace

std::vector<FaultKind> network_faults() {
  const auto kind = [](std::string_view name, std::string_view meaning, int shortest_ms, int longest_ms,
                       Harm (*begin)(Scene&)) {
    return FaultKind{.name = name,
                     .meaning = meaning,
                     .shortest = milliseconds(shortest_ms),
                     .longest = milliseconds(longest_ms),
                     .begin = begin};
  };
  return {
      kind("delay", "every message takes up to 600 ms longer", 2'000, 10'000, delay),
      kind("throttle", "messages trickle at 20 to 320 kB/s", 2'000, 10'000, throttle),
      kind("cut", "connections are reset, at once and again and again", 2'000, 8'000, cut),
      kind("half_open", "messages vanish in both directions without a sign", 1'000, 15'000, half_open),
      kind("one_way", "messages vanish in one direction", 1'000, 15'000, one_way),
      kind("refuse", "connections are reset as soon as they are made", 500, 8'000, refuse),
      kind("lost_commit_reply", "a commit is done and the process does not get to know it", 4'000, 8'000,
           lost_commit_reply),
      kind("held_commit", "a commit arrives in the middle of the next transaction", 4'000, 8'000, held_commit),
  };
}

}  // namespace reseq::chaos
