#include "tests/chaos/nemesis/site.h"

#include <atomic>
#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <utility>

namespace reseq::chaos {

Site::Site(SiteSettings settings) : settings_(std::move(settings)) {
  for (const char* name : {"log", "config", "host"}) std::filesystem::create_directories(settings_.folder + "/" + name);
}

std::string Site::config_file(const std::string& instance, const std::string& state) const {
  const std::string path = settings_.folder + "/config/" + instance + "-" + state + ".toml";
  // Whole or not at all: the operator's thread writes it again while a process that starts reads it.
  static std::atomic<unsigned> written{0};
  const std::string fresh = path + ".new" + std::to_string(++written);
  std::ofstream file(fresh);
  const auto ms = [](auto time) { return std::chrono::duration_cast<std::chrono::milliseconds>(time).count(); };
  file << "application.id = \"" << settings_.application_id << "\"\ninstance.id = \"" << instance
       << "\"\nbootstrap.servers = \"" << settings_.bootstrap_servers << "\"\nstate.dir = \"" << settings_.folder << '/'
       << state << "\"\ninit.partitions = " << settings_.partitions
       << "\ninit.output_partitions = " << settings_.partitions << "\ninit.work_partitions = " << settings_.partitions
       << "\ninit.replication = " << settings_.brokers << "\nsession.timeout.ms = " << ms(kSessionTimeout)
       << "\ntransaction.timeout.ms = " << ms(kTransactionTimeout)
       << "\nsocket.timeout.ms = 3000\nbatch_records_max = 2000\ncheckpoint_interval_ms = 1000\nsync_interval_ms = 1000"
       << "\nmax_clock_jump_ms = " << ms(kClockJumpMax) << "\nmax_clock_drift_ms = " << ms(kClockDriftMax)
       << "\nstarvation_after_ms = 0\nregistration_timeout_ms = " << ms(kRegistrationTimeout)
       << "\nskip_unchanged = true\nevents = \"all\"\nhttp.listen = \"127.0.0.1:0\"\n";
  if (settings_.journal) file << "held_bytes_max = " << kHeldBytesMax << "\n" << kJournalToml;
  if (settings_.orders) file << kOrdersToml;
  file << settings_.targets_toml;
  if (settings_.orders) file << kStrictTargetToml;
  if (settings_.orders && !settings_.journal) file << kTotalTargetToml;
  if (!file.flush()) throw std::runtime_error("cannot write " + fresh);
  std::filesystem::rename(fresh, path);
  return path;
}

std::string Site::instance_folder(const std::string& instance, const std::string& state) const {
  return settings_.folder + "/" + state + "/" + settings_.application_id + "/" + instance;
}

std::string Site::log_file(const std::string& name) const {
  return settings_.folder + "/log/" + name + ".log";
}

ProgramToRun Site::resequencer(const std::string& instance, const std::string& name, const std::string& state) const {
  return {.name = name,
          .argv = {test::program(settings_.program), "run", "--config", config_file(instance, state)},
          .environment = {"RESEQ_COMPACT_TIMES_USED=1"},
          .log_file = log_file(name)};
}

std::unique_ptr<Host> Site::host(const std::string& instance) const {
  return std::make_unique<Host>(settings_.folder + "/host/" + instance, instance_folder(instance) + "/");
}

std::string Site::transactional_ids(const std::string& instance) const {
  return settings_.application_id + "." + instance + ".*";
}

std::string Site::client_id(const std::string& instance) const {
  return settings_.application_id + "." + instance;
}

}  // namespace reseq::chaos
