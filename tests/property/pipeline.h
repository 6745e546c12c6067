// Pipeline: takes work and writes commands. It duplicates, reorders, delays, forks late, gives up, loses, and sends
// what nobody asked for; what it neither loses nor gives up it delivers in the end. Thread rule: one thread.
#pragma once

#include <array>
#include <optional>
#include <vector>

#include "tests/property/history.h"
#include "tests/property/model.h"
#include "tests/property/producers.h"

namespace reseq::property {

// What a pipeline can see of the engine when it writes a result.
struct Surroundings {
  UnixMs now;
  const PartitionState& state;
};

class Pipeline {
 public:
  Pipeline(const Model& model, Logs& logs) : model_(model), logs_(logs) {}

  // A record of `work`.
  void take(std::size_t document, const Forward& work);
  // A record of `requests`, which a tap pipeline reads by itself.
  void take(const Request& request);

  // Plays the step if it is one of the pipeline, else does nothing.
  void play(const Step& step, const Surroundings& around);

  // Delivers everything that is left, starting anywhere. False if there was nothing.
  bool deliver_all(std::uint8_t start);

  [[nodiscard]] const std::vector<LostWork>& lost() const { return lost_; }

 private:
  struct Piece {  // of work: one target of one order
    std::size_t document = 0;
    std::optional<Epoch> epoch;  // as the results will say it
    Order order;
    TargetNumber target;
    Op op = Op::kUpsert;
    TargetSet list;  // `reseq-targets` of the work
  };

  void take(const Piece& piece, TargetSet targets);
  [[nodiscard]] SequenceResult result_of(const Piece& piece) const;
  void deliver(const Step& step, const Surroundings& around);
  void observe(SequenceResult& result, const Step& step, const Surroundings& around) const;
  void deliver_badly(SequenceResult& result, const Step& step) const;
  void lose(const Step& step);
  void unregister(const Step& step);
  void fork(const Step& step);
  void register_order(const Step& step, const Surroundings& around);
  void stray_result(const Step& step);
  void stray_unregister(const Step& step);
  void expire(const Step& step);
  void release_by_hand(const Step& step);
  [[nodiscard]] Order stray_order(const Step& step) const;
  void write_register(const Piece& piece, std::optional<TargetSet> targets, const Step& step);

  const Model& model_;
  Logs& logs_;
  std::vector<Piece> waiting_;
  std::vector<Piece> seen_;  // one for every order that it ever got
  std::vector<LostWork> lost_;
};

}  // namespace reseq::property
