// Connection arguments: what a program is told of librdkafka on its command line, in a file and in the environment. A
// secret on a command line is refused: every user of the machine can read it in the list of processes.
// Thread rule: reads files and the environment; call before any thread is started.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "kafka/settings.h"

namespace reseq::kafka {

struct ConnectionArguments {
  std::string bootstrap_servers = {};
  std::vector<std::string> properties = {};    // --property: key=value
  std::string property_option = "--property";  // what that option is called
  std::string property_file = {};  // such lines; empty ones and those with # are left out; secrets may be there
};

// App: CLI::App, which not every program has that reads Kafka.
template <typename App>
void declare_properties(App& app, ConnectionArguments& arguments) {
  app.add_option(arguments.property_option, arguments.properties,
                 "key=value for librdkafka, may be repeated; no secrets");
  app.add_option("--property-file", arguments.property_file, "file of such lines, secrets too")
      ->envname("RESEQ_PROPERTY_FILE");
}

// Those of the file, then RESEQ_KAFKA_<PROPERTY> (sasl.password is RESEQ_KAFKA_SASL_PASSWORD), then those of the
// command line; of several with one name the last one counts. Secrets are hidden in the log. kInvalid: a line that is
// none, a file that cannot be read, a secret on the command line.
[[nodiscard]] Result<Properties> read_properties(const ConnectionArguments& arguments);

[[nodiscard]] Result<Connection> connection_of(const ConnectionArguments& arguments, const std::string& client_id);

}  // namespace reseq::kafka
