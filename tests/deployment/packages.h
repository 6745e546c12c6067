// The Debian packages of this tree, built by script/package once per test program.
// Thread rule: one thread.
#pragma once

#include <string>

namespace reseq::test {

struct Packages {
  std::string resequencer;  // path of the file
  std::string demo;
  std::string sink_postgres;
  std::string sink_opensearch;
};

// Throws when they cannot be built.
const Packages& packages();

// The same package with another version and another example of a configuration, in this folder: what an upgrade brings.
std::string upgraded_package(const std::string& package, const std::string& version, const std::string& folder);

}  // namespace reseq::test
