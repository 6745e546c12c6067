// Topics: `work` and `commands` of an application without a resequencer, to look at one stage alone.
// Thread rule: one thread.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "kafka/admin.h"
#include "kafka/plain_producer.h"
#include "tests/support/process.h"

namespace reseq::test {

// A command that answers each record with its payload.
inline const std::vector<std::string> kEcho = {"jq", "--unbuffered", "-c", "{ticket, payload}"};
// The exit code of a stage whose command wrote what is no answer, or whose result the broker refused: EX_DATAERR.
inline constexpr int kDataError = 65;

class Topics {
 public:
  // Of four partitions each; the name of the application is unique.
  explicit Topics(const std::string& what, kafka::Properties commands_configs = {});

  // Writes a record to `work` that asks for the target search.
  void write(const std::string& id, const std::string& payload);
  void flush();

  // A process of reseq-stage. `options` stand before the command.
  [[nodiscard]] std::unique_ptr<Process> start(const std::string& name, std::vector<std::string> options,
                                               const std::vector<std::string>& command) const;

  // How often each id stands in `commands`, as a read_committed reader sees it.
  [[nodiscard]] std::map<std::string, int> results() const;
  // The partition of `commands` that each id stands in.
  [[nodiscard]] std::map<std::string, Partition> partitions() const;
  // Offsets of `commands`, control records counted: how far the stages are.
  [[nodiscard]] std::int64_t progress() const;
  // Records of `work` that the stages have not committed.
  [[nodiscard]] std::int64_t lag() const;

  [[nodiscard]] const std::string& folder() const { return folder_.path(); }
  [[nodiscard]] const std::string& application() const { return application_; }

 private:
  TempDir folder_;
  std::string application_;
  kafka::Connection connection_;
  std::unique_ptr<kafka::Admin> admin_;
  std::unique_ptr<kafka::PlainProducer> producer_;
};

}  // namespace reseq::test
