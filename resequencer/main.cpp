// resequencer: one program, one subcommand per thing an operator does. Exit codes are those of sysexits.h.
#include <CLI/CLI.hpp>
#include <cstdio>
#include <string>
#include <sysexits.h>

#include "base/log.h"
#include "config/settings.h"
#include "runtime/service.h"

namespace {

int exit_code(const reseq::Error& error) {
  switch (error.what_to_do) {
    case reseq::ErrorClass::kInvalid:
      return EX_CONFIG;
    case reseq::ErrorClass::kRetriable:
    case reseq::ErrorClass::kTimeout:
      return EX_UNAVAILABLE;
    default:
      return EX_SOFTWARE;
  }
}

int finish(const reseq::Result<>& result) {
  if (result) return EX_OK;
  std::fprintf(stderr, "resequencer: %s\n", result.error().message.c_str());
  return exit_code(result.error());
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app("Keeps every document in order between Kafka topics while parallel workers scramble them.");
  app.require_subcommand(1);
  app.set_version_flag("--version", "resequencer " RESEQ_VERSION);
  std::string config_file;
  auto* run = app.add_subcommand("run", "run until SIGTERM or SIGINT");
  auto* init = app.add_subcommand("init", "create the topics of the application");
  for (auto* command : {run, init})
    command->add_option("--config", config_file, "configuration file (TOML)")->required();
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? EX_OK : EX_USAGE;
  }
  auto settings = reseq::config::load(config_file);
  if (!settings) return finish(settings.error());
  reseq::log::open(settings.value().log_level);
  return finish(run->parsed() ? reseq::runtime::run(std::move(settings).value())
                              : reseq::runtime::init(std::move(settings).value()));
}
