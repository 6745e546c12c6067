#include "tests/simulation/world/scenario.h"

#include <algorithm>
#include <initializer_list>
#include <string>
#include <utility>

namespace reseq::simulation {

namespace {

// One of them, each as likely as the others.
template <typename T>
T one_of(Draw& draw, std::initializer_list<T> choices) {
  return choices.begin()[draw.below(choices.size())];
}

void draw_settings(Draw& draw, Scenario& world) {
  config::Settings& settings = world.settings;
  settings.application_id = "app";
  settings.intake = world.tap ? "tap" : "inline";
  settings.requests_carry_epochs = world.tap && world.epochs;
  settings.events = one_of(draw, {"none", "drops", "all"});
  settings.on_unregistered = draw.chance(500) ? "drop" : "dead-letter";
  settings.on_unregistered_target = draw.chance(500) ? "drop" : "dead-letter";
  settings.dead_letter_headers = one_of(draw, {"reseq", "streams", "spring"});
  settings.starvation_after_ms = one_of<std::int64_t>(draw, {0, 0, 1'000});
  settings.registration_timeout_ms = one_of<std::int64_t>(draw, {0, 500, 2'000, 8'000});
  settings.watermark_retention_ms = one_of<std::int64_t>(draw, {std::int64_t{7} * 24 * 3600 * 1000, 3'000, 20'000});
  settings.max_clock_drift_ms = world.clocks_differ ? 60'000 : 500;
  settings.max_clock_jump_ms = 20'000;
  settings.session_timeout_ms = one_of<std::int64_t>(draw, {600, 2'000, 6'000});
  settings.transaction_timeout_ms = one_of<std::int64_t>(draw, {3'000, 10'000});
  settings.batch_records_max = one_of<std::int64_t>(draw, {1, 4, 20, 1'000});
  settings.checkpoint_rows_max = one_of<std::int64_t>(draw, {1, 5, 50});
  settings.checkpoint_interval_ms = one_of<std::int64_t>(draw, {500, 5'000, 60'000});
  const std::size_t targets = 1 + draw.below(3);
  const bool no_default = draw.chance(60);
  for (std::size_t i = 0; i < targets; ++i) {
    config::Target target;
    target.name = "t" + std::to_string(i);
    if (draw.chance(200)) target.order = "monotonic";
    target.optional = no_default || (i > 0 && draw.chance(400));
    settings.targets.push_back(std::move(target));
  }
}

void draw_brokers(Draw& draw, Scenario& world) {
  // Where clocks differ, copies count as older by max_clock_drift_ms.
  world.delete_retention_ms = world.clocks_differ ? one_of<std::int64_t>(draw, {150'000, 3'600'000})
                                                  : one_of<std::int64_t>(draw, {6'000, 8'000, 60'000, 3'600'000});
  world.broker.sweep_interval = Milliseconds(one_of<std::int64_t>(draw, {1'000, 5'000}));
  world.broker.commit_takes = Milliseconds(one_of<std::int64_t>(draw, {0, 1, 8}));
  world.broker.marker_per_mille = one_of<std::uint32_t>(draw, {1'000, 500, 60, 5});
  world.broker.late_per_mille = one_of<std::uint32_t>(draw, {500, 50});
  world.broker.refuse_without_generation = false;
  if (draw.chance(300)) world.faults.passing = 20;
  if (draw.chance(300)) world.faults.ending = one_of<std::uint32_t>(draw, {20, 100});
  if (draw.chance(200)) world.faults.fatal = 3;
}

void draw_weights(Draw& draw, Scenario& world) {
  Weights& weights = world.weights;
  weights.request = one_of<std::uint32_t>(draw, {20, 60, 150});
  weights.kill = one_of<std::uint32_t>(draw, {0, 2, 8});
  weights.stop = one_of<std::uint32_t>(draw, {0, 2});
  weights.pause = one_of<std::uint32_t>(draw, {0, 2, 10});
  weights.nap = one_of<std::uint32_t>(draw, {0, 10, 30});
  weights.compact = one_of<std::uint32_t>(draw, {0, 5, 20});
  if (draw.chance(150)) weights.power_loss = 2;
  if (draw.chance(150)) weights.lose_copy = 2;
  if (draw.chance(100)) weights.damage_copy = 2;
  if (draw.chance(100)) weights.forget_offsets = 2;
  if (world.clocks_differ) weights.clock_step = one_of<std::uint32_t>(draw, {0, 3});
}

}  // namespace

Scenario draw_scenario(Draw& draw) {
  Scenario world;
  world.partitions = static_cast<std::int32_t>(1 + draw.below(4));
  world.processes = 2 + draw.below(2);
  world.workers = 1 + draw.below(2);
  world.static_members = draw.chance(600);
  world.documents = 2 + draw.below(6);
  world.ticks = one_of<std::size_t>(draw, {400, 800, 1'600});
  world.tap = draw.chance(300);
  world.epochs = draw.chance(400);
  world.clocks_differ = draw.chance(400);
  world.answer_ms_max = one_of<std::int64_t>(draw, {50, 500, 3'000});
  draw_settings(draw, world);
  // Not drawn, so that the worlds before it was there stay what they were.
  world.settings.deletes = world.documents % 2 == 0 ? "explicit" : "null-payload";
  draw_brokers(draw, world);
  draw_weights(draw, world);
  world.requests_retention_ms = world.settings.watermark_retention_ms;
  return world;
}

Scenario of_pieces(Scenario world) {
  world.large_payload = kPayloadOfPieces;
  world.compacts = true;
  return world;
}

Scenario of_gate(Scenario world, Draw& draw) {
  world = of_pieces(std::move(world));
  world.settings.skip_unchanged = !world.tap && draw.chance(300);
  return world;
}

Scenario of_journal(Scenario world, Draw& draw) {
  world = of_pieces(std::move(world));
  world.journal = true;
  world.tap = false;
  config::Settings& settings = world.settings;
  settings.intake = "inline";
  settings.requests_carry_epochs = false;
  settings.dispatch_mode = "journal";
  settings.dispatch_in_flight_max = one_of<std::int64_t>(draw, {1, 2, 5, 50});
  settings.dispatch_default_priority = one_of<std::int64_t>(draw, {100, 100, 0, 200, 255});
  settings.dispatch_idle_from_priority = one_of<std::int64_t>(draw, {200, 200, 100, 256, 0});
  settings.dispatch_process_at_max_ms = one_of<std::int64_t>(draw, {500, 3'000, 8'000});
  settings.dispatch_consolidate_ms = one_of<std::int64_t>(draw, {0, 0, 300});
  settings.dispatch_one_at_a_time = draw.chance(600);
  settings.dispatch_lease_ms = one_of<std::int64_t>(draw, {1'000, 2'000, 5'000});
  settings.dispatch_timeouts_max = one_of<std::int64_t>(draw, {0, 1, 2, 1'000});
  settings.dispatch_attempts = draw.chance(500) ? "last" : "any";
  settings.held_bytes_max = one_of<std::int64_t>(draw, {0, 1'000, 20'000, std::int64_t{256} << 20U});
  // Above what anything may wait.
  settings.watermark_retention_ms = std::max<std::int64_t>(settings.watermark_retention_ms, 15'000);
  world.requests_retention_ms = one_of<std::int64_t>(draw, {2'000, 4'000, 8'000, settings.watermark_retention_ms});
  world.weights.retention = one_of<std::uint32_t>(draw, {0, 10, 50});
  settings.failures_mode = "retry";
  settings.failures_retries_max = one_of<std::int64_t>(draw, {0, 1, 3, 20});
  settings.failures_repeats_max = one_of<std::int64_t>(draw, {1, 3});
  settings.failures_backoff_ms = one_of<std::int64_t>(draw, {1, 100, 2'000});
  settings.failures_backoff_max_ms = 2'000;
  settings.failures_breaker_documents = one_of<std::int64_t>(draw, {0, 1, 2, 5});
  settings.failures_breaker_pause_ms = one_of<std::int64_t>(draw, {1, 100, 1'000});
  settings.failures_breaker_pause_max_ms = one_of<std::int64_t>(draw, {1'000, 3'000});
  world.outages = draw.chance(500);
  if (draw.chance(250)) settings.dispatch_mode = "immediate";
  if (draw.chance(500)) settings.failures_on_failure = "marker";
  settings.skip_unchanged = draw.chance(300);
  settings.failures_inherit_failed = draw.chance(300);
  if (world.leases() && draw.chance(300)) {
    settings.dispatch_attempts = "last";
    settings.targets.back().effect = "potent";
  }
  return world;
}

Scenario of_lanes(Scenario world, Draw& draw) {
  world = of_pieces(std::move(world));
  world.lanes = true;
  world.tap = false;
  config::Settings& settings = world.settings;
  settings.intake = "inline";
  settings.requests_carry_epochs = false;
  settings.targets.front().order = one_of(draw, {"strict", "total"});
  if (settings.targets.size() > 1 && draw.chance(500)) settings.targets[1].order = one_of(draw, {"strict", "total"});
  settings.orders_gap_timeout_ms = one_of<std::int64_t>(draw, {1'000, 3'000, 8'000});
  settings.orders_on_gap = draw.chance(500) ? "marker" : "dead-letter";
  settings.skip_unchanged = draw.chance(300);
  settings.held_bytes_max = one_of<std::int64_t>(draw, {0, 1'000, 20'000, std::int64_t{256} << 20U});
  return world;
}

Scenario of_lanes_in_journal(Scenario world, Draw& draw) {
  const bool skips = world.settings.skip_unchanged;
  world = of_lanes(std::move(world), draw);
  config::Settings& settings = world.settings;
  settings.skip_unchanged = skips;
  for (config::Target& target : settings.targets)
    if (target.order == "total" && world.leases()) target.order = "strict";
  settings.orders_lane_in_flight_max = one_of<std::int64_t>(draw, {1, 2, 3, 16});
  return world;
}

Scenario of_many_partitions(Scenario world, std::int32_t partitions) {
  world.partitions = partitions;
  world.documents *= 8;
  return world;
}

}  // namespace reseq::simulation
