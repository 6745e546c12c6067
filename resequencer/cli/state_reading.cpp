#include "cli/state_reading.h"

#include <cstdio>

namespace reseq::cli {

namespace {

// Beyond the time after which Kafka ends a transaction that was left open.
constexpr Milliseconds kStallSlack{10'000};

}  // namespace

Result<changelog::Inventory> read_state(kafka::LogReader& reader, const runtime::Application& application,
                                        Partition partition, const std::function<void()>& meanwhile) {
  const config::Settings& settings = application.settings;
  changelog::InventoryRequest request{
      .where = {application.topics.of(Role::kChangelog), partition},
      .configured_targets = {},
      .stall_limit = Milliseconds(settings.transaction_timeout_ms + kStallSlack.value()),
      .progress = [&](Offset position, Offset end) {
        std::fprintf(stderr, "reading the changelog of partition %d: %lld of %lld\n", partition.value(),
                     static_cast<long long>(position.value()), static_cast<long long>(end.value()));
        if (meanwhile) meanwhile();
      }};
  for (const config::Target& target : settings.targets) request.configured_targets.push_back(target.name);
  return changelog::take_inventory(reader, request);
}

}  // namespace reseq::cli
