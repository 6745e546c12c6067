#include "tests/deployment/packages.h"

#include <sstream>
#include <stdexcept>

#include "tests/deployment/machine.h"
#include "tests/support/source_path.h"

namespace reseq::test {

namespace {

// Seconds with a warm compiler cache, which a build of the same sources leaves.
constexpr int kBuildLimitMs = 840'000;

constexpr const char* kUpgrade = R"(
dpkg-deb --raw-extract "$1" "$3/tree"
sed -i "s/^Version: .*/Version: $2/" "$3/tree/DEBIAN/control"
example=$3/tree/etc/resequencer/example.toml
if [ -e "$example" ]; then echo '# a line that only the new version has' >>"$example"; fi
dpkg-deb --root-owner-group -Znone --build "$3/tree" "$3/upgrade.deb"
rm -r "$3/tree"
)";

Packages build() {
  const Outcome built = run_here({source_path("script/package")}, kBuildLimitMs);
  if (built.code != 0) throw std::runtime_error("script/package: " + built.text);
  Packages all;
  std::istringstream lines(built.text);
  for (std::string line; std::getline(lines, line);) {
    if (!line.ends_with(".deb") || !line.starts_with('/')) continue;
    const std::string file = line.substr(line.rfind('/') + 1);
    if (file.starts_with("resequencer_")) all.resequencer = line;
    if (file.starts_with("resequencer-demo_")) all.demo = line;
    if (file.starts_with("resequencer-sink-postgres_")) all.sink_postgres = line;
    if (file.starts_with("resequencer-sink-opensearch_")) all.sink_opensearch = line;
  }
  if (all.resequencer.empty() || all.demo.empty() || all.sink_postgres.empty() || all.sink_opensearch.empty())
    throw std::runtime_error("no packages: " + built.text);
  return all;
}

}  // namespace

const Packages& packages() {
  static const Packages kPackages = build();
  return kPackages;
}

std::string upgraded_package(const std::string& package, const std::string& version, const std::string& folder) {
  const Outcome made = run_here({"sh", "-ec", kUpgrade, "sh", package, version, folder});
  if (made.code != 0) throw std::runtime_error("no package for an upgrade: " + made.text);
  return folder + "/upgrade.deb";
}

}  // namespace reseq::test
