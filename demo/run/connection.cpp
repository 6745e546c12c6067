#include "demo/run/connection.h"

namespace reseq::demo {
namespace {

void log_errors(int level, std::string_view facility, std::string_view text) {
  if (level <= kafka::kLogError) kafka::log_to_stderr(level, facility, text);
}

}  // namespace

kafka::Connection connection_of(const Settings& settings) {
  return {.bootstrap_servers = settings.bootstrap_servers, .client_id = "reseq-demo", .log = log_errors};
}

}  // namespace reseq::demo
