// Observation: one pipeline that is looked at: its topics, where the reader stands in them, and the ledger. Reads in
// rounds: the ends of the output are asked, then those of the input, so that the request of every result of the round
// is in it as well.
// Thread rule: one thread.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "kafka/admin.h"
#include "observe/ledger.h"
#include "observe/merged_log.h"
#include "observe/places.h"
#include "observe/report.h"
#include "runtime/application/application.h"
#include "store/instance_folder.h"

namespace reseq::observe {

// <state.dir>/<application.id>/<instance.id>.observe
[[nodiscard]] std::string observer_path(const config::Settings& settings);

class Observation {
 public:
  // Goes on where the folder stands, or begins there (`anew`: in any case). kInvalid: settings, topics or folder do not
  // fit together; kRetriable: brokers, disk, or another observer has the folder.
  static Result<std::unique_ptr<Observation>> open(config::Settings settings, bool anew);

  // Asks the ends, for a round. False: nothing is new.
  Result<bool> begin_round();
  // Some records of the round. False: it is over. Errors of brokers that pass are told and waited for.
  Result<bool> step(Milliseconds limit);

  // Everything that was counted goes to disk.
  Result<> save();
  [[nodiscard]] bool save_due() const;
  Result<> sync() { return ledger_->sync(); }
  // Every document that is wrong now. REQUIRES: observe.wrong_file is set.
  Result<WrongCounts> tell_wrong_now(const WrongLine& line) const;
  // Saved, and marked clean.
  Result<> close();

  [[nodiscard]] Seen seen(bool running) const;
  [[nodiscard]] const config::Settings& settings() const { return application_.settings; }

 private:
  explicit Observation(config::Settings settings) : application_(std::move(settings)) {}
  Result<> look_at_topics();
  Result<> open_folder(bool anew);
  Result<> open_ledger(bool anew);
  Result<> open_log();
  Result<std::vector<kafka::PlainOffset>> starts(const std::string& topic);
  [[nodiscard]] std::string layout() const;
  [[nodiscard]] Json note() const;

  [[nodiscard]] Command decode(codec::InputRecord& record) const;
  Result<bool> take_result(Taken& taken);
  void take_request(const Taken& taken);
  void note_record(const codec::InputRecord& record, DocumentId id, const Taken& taken);

  runtime::Application application_;
  mutable Arena arena_;  // the id of the request decoded last
  engine::Context context_;
  TargetTable targets_;
  std::optional<Places> input_places_;  // none: the wire contract
  std::optional<Places> output_places_;
  std::unique_ptr<kafka::Admin> admin_;
  TopicSeen input_;
  TopicSeen output_;
  UnixMs began_;
  std::uint64_t lost_ = 0;
  std::unique_ptr<store::InstanceFolder> folder_;
  std::unique_ptr<Ledger> ledger_;
  std::unique_ptr<kafka::Bystander> bystander_;
  std::vector<Stream> streams_;
  std::unique_ptr<MergedLog> log_;  // its records go before the bystander
};

}  // namespace reseq::observe
