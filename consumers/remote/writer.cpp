#include "consumers/remote/writer.h"

#include <unordered_set>
#include <utility>

namespace reseq::remote {
namespace {

constexpr std::chrono::milliseconds kPulseLook{100};

}  // namespace

Writer::Writer(RemoteStore& store, Lanes& lanes, DeadLetters& letters, Tally& tally, const Pulse& pulse,
               BackOffLimits back_off)
    : store_(store),
      lanes_(lanes),
      letters_(letters),
      tally_(tally),
      pulse_(pulse),
      back_off_limits_(back_off),
      random_(std::random_device()()) {}

void Writer::run() {
  while (std::shared_ptr<Load> load = lanes_.take()) lanes_.give_back(write(std::move(load)));
}

Finished Writer::write(std::shared_ptr<Load> load) {
  BackOff back_off(back_off_limits_);
  moved_ = false;
  letters_wait_ = false;
  while (!load->dropped) {
    switch (try_once(*load)) {
      case Next::kAtOnce:
        back_off.succeeded();
        break;
      case Next::kAfterRest:
        if (!lanes_.rest(*load, back_off.next(random_()))) return {std::move(load), Outcome::kDropped};
        break;
      case Next::kDone:
        return {std::move(load), Outcome::kWritten};
      case Next::kDropped:
        return {std::move(load), Outcome::kDropped};
      case Next::kStop:
        return {std::move(load), error_.what_to_do == ErrorClass::kFenced ? Outcome::kFenced : Outcome::kFatal, error_};
    }
  }
  return {std::move(load), Outcome::kDropped};
}

Writer::Next Writer::try_once(Load& load) {
  while (!pulse_.is_fresh(Clock::now()))
    if (!lanes_.rest(load, kPulseLook)) return Next::kDropped;
  if (!load.letters.empty()) return write_letters(load);
  if (!load.batch.writes.empty() || (store_.keeps_positions() && !moved_)) return write_batch(load);
  return Next::kDone;
}

Writer::Next Writer::write_letters(Load& load) {
  if (Result<> written = letters_.write(load.letters); !written) {
    if (load.dropped) return Next::kDropped;  // also when the program ends
    letters_wait_ = true;
    Error error = written.error();
    error.message = "dead letters: " + error.message;
    tally_.trouble(error);
    return Next::kAfterRest;
  }
  Counts counts;
  for (const Letter& letter : load.letters) ++(letter.malformed ? counts.malformed : counts.refused);
  tally_.add(counts);
  load.letters.clear();
  if (std::exchange(letters_wait_, false)) tally_.good();  // perhaps nothing else is to be written
  return Next::kAtOnce;
}

Writer::Next Writer::write_batch(Load& load) {
  answers_.assign(load.batch.writes.size(), Answer{});
  const Result<> written = store_.write(load.batch, answers_);
  if (!written &&
      (written.error().what_to_do == ErrorClass::kFenced || written.error().what_to_do == ErrorClass::kFatal)) {
    error_ = written.error();
    return Next::kStop;
  }
  const bool has_to_rest = sort_answers(load);
  if (!written) {
    tally_.trouble(written.error());
    return Next::kAfterRest;
  }
  if (has_to_rest) return Next::kAfterRest;
  tally_.good();
  moved_ = load.batch.writes.empty() && load.letters.empty();
  return moved_ ? Next::kDone : Next::kAtOnce;
}

bool Writer::sort_answers(Load& load) {
  Counts counts;
  std::vector<Write> again;
  std::unordered_set<std::string_view> refused;
  const Answer* busy = nullptr;
  for (std::size_t i = 0; i < answers_.size(); ++i) {
    const Write& write = load.batch.writes[i];
    switch (answers_[i].kind) {
      case Answer::Kind::kStored:
        ++counts.written;
        break;
      case Answer::Kind::kNotNewer:
        ++counts.not_newer;
        break;
      case Answer::Kind::kRefused:
        load.letters.push_back({write.record, false, std::move(answers_[i].words)});
        refused.insert(write.change.id);
        break;
      case Answer::Kind::kAgain:
        busy = &answers_[i];
        ++counts.retried;
        again.push_back(write);
        break;
      case Answer::Kind::kHeldBack:
        again.push_back(write);
        break;
    }
  }
  if (!refused.empty())
    for (const Write& older : take_outrun(load, refused)) again.push_back(older);
  load.batch.writes = std::move(again);
  tally_.add(counts);
  if (busy != nullptr && !busy->words.empty()) tally_.trouble({ErrorClass::kRetriable, 0, busy->words});
  return busy != nullptr;
}

}  // namespace reseq::remote
