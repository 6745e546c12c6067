#include "demo/run/instance_config.h"

#include <fstream>
#include <sstream>

namespace reseq::demo {
namespace {

// A TOML basic string; control characters do not occur in what we quote.
std::string quoted(const std::string& text) {
  std::string escaped = "\"";
  for (const char letter : text) {
    if (letter == '"' || letter == '\\') escaped += '\\';
    escaped += letter;
  }
  return escaped + "\"";
}

}  // namespace

std::string instance_config(const Settings& settings, const std::string& instance_id) {
  std::ostringstream toml;
  toml << "application.id = " << quoted(settings.application_id) << "\n"
       << "instance.id = " << quoted(instance_id) << "\n"
       << "bootstrap.servers = " << quoted(settings.bootstrap_servers) << "\n"
       << "state.dir = " << quoted(settings.in_work("state")) << "\n"
       << "sequence_kind = \"u64\"\n"
       << "intake = " << quoted(settings.intake) << "\n"
       << "events = " << quoted(settings.failures || settings.orders ? "all" : "drops") << "\n"
       << "http.listen = \"127.0.0.1:0\"\n"
       << "init.partitions = " << settings.partitions() << "\n"
       << "init.output_partitions = " << settings.partitions() << "\n"
       << "init.work_partitions = " << settings.work_partitions() << "\n";
  if (settings.dispatch == "journal")
    toml << "dispatch.mode = \"journal\"\n"
         << "dispatch.in_flight_max = " << Settings::kUnderWay / settings.partitions() << "\n"
         << "dispatch.lease_ms = " << Settings::kLeaseMs << "\n";
  // Hours are seconds here. So many retries take longer than the search engine is down: where few documents come, no
  // breaker opens.
  if (settings.failures)
    toml << "failures.mode = \"retry\"\n"
         << "failures.retries_max = " << Settings::kRetriesMax << "\n"
         << "failures.backoff_ms = 500\n"
         << "failures.backoff_max_ms = 4000\n"
         << "failures.breaker_documents = 3\n"
         << "failures.breaker_pause_ms = 500\n"
         << "failures.breaker_pause_max_ms = 2000\n";
  if (settings.orders) toml << "orders.gap_timeout_ms = " << Settings::kGapTimeoutMs << "\n";
  for (const std::string& target : settings.targets()) {
    toml << "\n[[target]]\nname = " << quoted(target) << "\n";
    if (target == Settings::kHistory) toml << "order = \"strict\"\n";
    if (target == Settings::kAudit) toml << "order = \"total\"\n";
  }
  return toml.str();
}

Result<std::string> write_instance_config(const Settings& settings, const std::string& instance_id) {
  std::string path = settings.in_work("resequencer-" + instance_id + ".toml");
  std::ofstream file(path, std::ios::trunc);
  file << instance_config(settings, instance_id);
  if (!file.flush()) return Error{.what_to_do = ErrorClass::kInvalid, .message = "cannot write " + path};
  return path;
}

}  // namespace reseq::demo
