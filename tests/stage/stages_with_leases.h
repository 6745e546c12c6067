// StagesWithLeases: processes of reseq-stage at a resequencer with a journal.
// Thread rule: one thread.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "kafka/plain_producer.h"
#include "tests/e2e/resequencer_run.h"

namespace reseq::test {

class StagesWithLeases {
 public:
  // With the target search. `more_toml` is appended to the configuration.
  explicit StagesWithLeases(int lease_ms, const std::string& more_toml = "");

  // The payload is "text".
  void request(const std::string& id);
  // A command of bash. The group knows ten seconds after the death of a stage that it is gone.
  [[nodiscard]] std::unique_ptr<Process> start(const std::string& name, const std::vector<std::string>& options,
                                               const std::string& script) const;

  // A script that works for so long on each record, and notes that it has begun.
  [[nodiscard]] std::string takes(const std::string& seconds, const std::string& name) const;
  [[nodiscard]] bool has_begun(const std::string& name) const;
  // How often it has begun.
  [[nodiscard]] std::ptrdiff_t runs(const std::string& name) const;

  // A header of all records of a topic; "-" where it is absent.
  [[nodiscard]] std::vector<std::string> read(const std::string& role, std::string_view header,
                                              std::string_view only_command = {}) const;
  [[nodiscard]] std::vector<std::string> results() const { return read("commands", "reseq-attempt", "sequence"); }
  [[nodiscard]] std::size_t releases() const { return read("output.search", "reseq-seq").size(); }
  [[nodiscard]] bool released() const;
  [[nodiscard]] std::string log() const { return resequencer_->tail(); }

 private:
  [[nodiscard]] std::string file(const std::string& name) const { return folder_.path() + "/" + name; }

  TempDir folder_;
  ResequencerRun run_;
  std::unique_ptr<Process> resequencer_;
  std::unique_ptr<kafka::PlainProducer> producer_;
};

}  // namespace reseq::test
