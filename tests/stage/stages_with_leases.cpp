#include "tests/stage/stages_with_leases.h"

#include <algorithm>
#include <fstream>
#include <iterator>

#include "tests/e2e/outputs.h"
#include "tests/e2e/patience.h"
#include "tests/support/broker.h"
#include "tests/support/good.h"

namespace reseq::test {

StagesWithLeases::StagesWithLeases(int lease_ms, const std::string& more_toml)
    : run_(Broker::shared().bootstrap_servers(), unique_name("leases"), {"search"},
           "dispatch.mode = \"journal\"\ndispatch.lease_ms = " + std::to_string(lease_ms) + "\n" + more_toml),
      resequencer_(run_.start(1)),
      producer_(good(kafka::PlainProducer::open(run_.connection()))) {}

void StagesWithLeases::request(const std::string& id) {
  good(producer_->send(run_.topic("requests"), id, "text", std::vector<Header>{{"reseq-seq", "1"}}));
  good(producer_->flush(Milliseconds(30'000)));
}

std::unique_ptr<Process> StagesWithLeases::start(const std::string& name, const std::vector<std::string>& options,
                                                 const std::string& script) const {
  std::vector<std::string> argv = {program("reseq-stage"), "--bootstrap-servers", run_.connection().bootstrap_servers,
                                   "--application-id", run_.application_id()};
  argv.insert(argv.end(), options.begin(), options.end());
  argv.insert(argv.end(), {"--", "bash", "-c", script});
  return std::make_unique<Process>(argv, folder_.path() + "/" + name + ".log");
}

std::string StagesWithLeases::takes(const std::string& seconds, const std::string& name) const {
  return "while read -r line; do echo >>" + file(name) + "; sleep " + seconds +
         "; jq -c '{ticket, payload}' <<<$line; done";
}

bool StagesWithLeases::has_begun(const std::string& name) const {
  return wait_until(kPatience, [&] { return std::ifstream(file(name)).good(); });
}

std::ptrdiff_t StagesWithLeases::runs(const std::string& name) const {
  std::ifstream lines(file(name));
  return std::count(std::istreambuf_iterator<char>(lines), std::istreambuf_iterator<char>(), '\n');
}

std::vector<std::string> StagesWithLeases::read(const std::string& role, std::string_view header,
                                                std::string_view only_command) const {
  std::vector<std::string> values;
  read_all(run_.connection(), run_.topic(role), [&](const kafka::PlainRecord& record) {
    std::string value = "-";
    bool counts = only_command.empty();
    for (const Header& one : record.headers) {
      if (one.name == header) value = std::string(one.value.value_or("(null)"));
      counts = counts || (one.name == "reseq-command" && one.value == only_command);
    }
    if (counts) values.push_back(value);
  });
  return values;
}

bool StagesWithLeases::released() const {
  return wait_until(kPatience, [&] { return releases() > 0; });
}

}  // namespace reseq::test
