// Reads the state of one partition from the changelog, for the subcommands that have none of their own, and says on
// stderr how far it is: a large changelog takes a while.
// Thread rule: main thread.
#pragma once

#include <functional>

#include "base/result.h"
#include "changelog/inventory.h"
#include "kafka/cluster.h"
#include "runtime/application/application.h"

namespace reseq::cli {

// `meanwhile` is called now and then. Errors as changelog::take_inventory().
[[nodiscard]] Result<changelog::Inventory> read_state(kafka::LogReader& reader, const runtime::Application& application,
                                                      Partition partition, const std::function<void()>& meanwhile = {});

}  // namespace reseq::cli
