#include "tests/opensearch/writes.h"

#include <chrono>
#include <stdexcept>
#include <thread>
#include <utility>

namespace reseq::test {
namespace {

constexpr std::chrono::seconds kWritesLimit{120};
constexpr std::chrono::milliseconds kWritesPause{20};

}  // namespace

remote::Write& Writes::add(std::string id, std::uint64_t version) {
  texts_.push_back(std::move(id));
  remote::Write write;
  write.change.id = texts_.back();
  write.change.version = Version(version);
  return batch_.writes.emplace_back(write);
}

Writes& Writes::upsert(std::string id, std::uint64_t version, std::string payload) {
  remote::Write& write = add(std::move(id), version);
  texts_.push_back(std::move(payload));
  write.change.op = sink::ChangeOp::kUpsert;
  write.change.payload = texts_.back();
  return *this;
}

Writes& Writes::remove(std::string id, std::uint64_t version, std::int64_t at_ms) {
  remote::Write& write = add(std::move(id), version);
  write.change.op = sink::ChangeOp::kDelete;
  write.timestamp = UnixMs(at_ms);
  return *this;
}

Writes& Writes::fail(std::string id, std::uint64_t version, std::string error) {
  remote::Write& write = add(std::move(id), version);
  texts_.push_back(std::move(error));
  write.change.op = sink::ChangeOp::kFailed;
  write.change.payload = R"({"reason":"failed","attempts":3,"failed_at":"2026-11-29T15:12:05.123Z"})";
  write.change.error = texts_.back();
  return *this;
}

Result<> Writes::to(remote::RemoteStore& store) {
  answers_.assign(batch_.writes.size(), {});
  return store.write(batch_, answers_);
}

void Writes::all_to(remote::RemoteStore& store) {
  const auto until = std::chrono::steady_clock::now() + kWritesLimit;
  std::vector<remote::Answer> whole(batch_.writes.size());
  std::vector<std::size_t> open(batch_.writes.size());
  for (std::size_t i = 0; i < open.size(); ++i) open[i] = i;
  while (!open.empty()) {
    remote::Batch batch{batch_.partition, batch_.first, batch_.next, {}};
    for (const std::size_t place : open) batch.writes.push_back(batch_.writes[place]);
    std::vector<remote::Answer> answers(batch.writes.size());
    const Result<> written = store.write(batch, answers);
    std::vector<std::size_t> again;
    for (std::size_t i = 0; i < open.size(); ++i) {
      whole[open[i]] = answers[i];
      if (answers[i].kind == Kind::kAgain) again.push_back(open[i]);
    }
    open = std::move(again);
    if (open.empty()) break;
    if (std::chrono::steady_clock::now() > until)
      throw std::runtime_error("writes that are never answered: " +
                               (written ? whole[open[0]].words : written.error().message));
    std::this_thread::sleep_for(kWritesPause);
  }
  answers_ = std::move(whole);
}

std::vector<Writes::Kind> Writes::kinds() const {
  std::vector<Kind> kinds;
  for (const remote::Answer& answer : answers_) kinds.push_back(answer.kind);
  return kinds;
}

}  // namespace reseq::test
