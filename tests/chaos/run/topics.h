// The topics of a run, and how the harness itself reaches its brokers.
// Thread rule: plain functions.
#pragma once

#include <string>

#include "kafka/settings.h"
#include "tests/chaos/cluster/cluster.h"
#include "tests/chaos/nemesis/site.h"

namespace reseq::chaos {

// For each question or order of the harness to the brokers.
inline constexpr Milliseconds kAdminLimit{60'000};

// What the library says of brokers that are away is no news there.
[[nodiscard]] kafka::Connection connection_to(const std::string& bootstrap_servers);

// Makes them, and waits until all brokers know them. Throws when that does not succeed.
void create_topics(const Site& site, const Cluster& cluster);

}  // namespace reseq::chaos
