#include "tests/deployment/installed.h"

#include <filesystem>
#include <stdexcept>

#include "tests/deployment/packages.h"
#include "tests/support/broker.h"

namespace reseq::test {

namespace {

void demand(const Outcome& outcome, const std::string& what) {
  if (outcome.code != 0) throw std::runtime_error(what + ": " + outcome.text);
}

}  // namespace

Installed::Installed(Init init) : machine(init) {
  demand(install(packages().resequencer), "the package cannot be installed");
}

Outcome Installed::install(const std::string& package) {
  // A machine with systemd has a /tmp of its own, and the tree may lie in that of this one.
  const std::string seen = machine.shared() + "/" + std::filesystem::path(package).filename().string();
  if (seen != package) std::filesystem::copy_file(package, seen, std::filesystem::copy_options::overwrite_existing);
  return machine.run({"dpkg", "--force-confold", "--install", seen});
}

void Installed::configure_shop() {
  const std::string edits = "s/^application.id.*/application.id = \"" + unique_name("shop") +
                            "\"/; s/^bootstrap.servers.*/bootstrap.servers = \"" +
                            Broker::shared().bootstrap_servers() + "\"/";
  demand(machine.run({"sh", "-ec",
                      "cd /etc/resequencer; sed \"$1\" example.toml >shop.toml; chgrp resequencer shop.toml; "
                      "chmod 640 shop.toml; umask 077; echo RESEQ_HTTP_LISTEN= >shop.env",
                      "sh", edits}),
         "no configuration");
  demand(run_as_user({"resequencer", "init", "--config", "/etc/resequencer/shop.toml"}), "no topics");
}

}  // namespace reseq::test
