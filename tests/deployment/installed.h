// Installed: a machine with the package of this tree on it, and what an administrator does there first.
// Thread rule: one thread.
#pragma once

#include <string>

#include "tests/deployment/machine.h"

namespace reseq::test {

class Installed {
 public:
  // Throws when the package cannot be installed.
  explicit Installed(Init init);

  Machine machine;

  // dpkg asks nobody: what an administrator has changed stays, as with unattended upgrades.
  [[nodiscard]] Outcome install(const std::string& package);
  // As the user of the package.
  [[nodiscard]] Outcome run_as_user(const Words& command) { return machine.run(command, "resequencer"); }
  // Copies the example to shop.toml, names an application and the brokers of the test, and creates its topics. Throws.
  // In shop.env it listens nowhere: other tests of this machine may have the port.
  void configure_shop();
};

}  // namespace reseq::test
