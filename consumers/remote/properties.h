// Properties: what a remote sink is told of librdkafka and of secrets, from the command line, files and the
// environment. A secret on a command line is refused: every user of the machine can read it in the list of processes.
// Thread rule: reads files and the environment; call before any thread is started.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "kafka/settings.h"

namespace reseq::remote {

// `--property`: kInvalid for what holds a secret.
[[nodiscard]] Result<kafka::Properties> parse_properties(const std::vector<std::string>& lines);

// `--property-file`: key=value per line; empty lines and those with # are left out. Secrets are hidden in the log.
[[nodiscard]] Result<kafka::Properties> read_property_file(const std::string& path);

// The first line of a file, hidden in the log.
[[nodiscard]] Result<std::string> read_secret_file(const std::string& path);

// RESEQ_KAFKA_<PROPERTY>, as the resequencer reads them: sasl.password is RESEQ_KAFKA_SASL_PASSWORD.
[[nodiscard]] kafka::Properties environment_properties();

}  // namespace reseq::remote
