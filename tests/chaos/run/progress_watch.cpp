#include "tests/chaos/run/progress_watch.h"

#include <array>
#include <memory>
#include <utility>

namespace reseq::chaos {

namespace {

constexpr std::chrono::milliseconds kEvery{1'000};
constexpr std::chrono::milliseconds kLook{50};
constexpr Milliseconds kAskLimit{3'000};
constexpr std::array<const char*, 2> kInputs = {".requests", ".commands"};

}  // namespace

ProgressWatch::ProgressWatch(kafka::Connection connection, std::string application_id, int partitions)
    : connection_(std::move(connection)),
      application_id_(std::move(application_id)),
      partitions_(static_cast<std::size_t>(partitions)),
      stalls_(partitions_, steady()) {
  // What the library says of brokers that are away is no news in a chaos run.
  connection_.log = [](int, std::string_view, std::string_view) {};
  thread_ = std::thread([this] { run(); });
}

ProgressWatch::~ProgressWatch() {
  stop_ = true;
  thread_.join();
}

Stalls::Time ProgressWatch::steady() {
  return std::chrono::duration_cast<Stalls::Time>(Clock::now().time_since_epoch());
}

void ProgressWatch::run() {
  std::unique_ptr<kafka::Admin> admin;
  while (!stop_) {
    if (!admin)
      if (auto opened = kafka::Admin::open(connection_)) admin = std::move(opened).value();
    if (admin)
      if (const auto answer = ask(*admin)) stalls_.take(*answer, steady());
    for (const auto until = Clock::now() + kEvery; Clock::now() < until && !stop_;) std::this_thread::sleep_for(kLook);
  }
}

// None: a question failed. The offsets of a group cannot be had while a transaction that moves them is open.
std::optional<std::vector<Standing>> ProgressWatch::ask(kafka::Admin& admin) const {
  std::vector<Standing> all(partitions_);
  for (const char* input : kInputs) {
    const std::string topic = application_id_ + input;
    const auto next = admin.committed(application_id_, topic, kAskLimit);
    const auto ends = admin.stable_ends(topic, kAskLimit);
    if (!next || !ends) return std::nullopt;
    for (std::size_t i = 0; i < all.size(); ++i) {
      all[i].position += next.value().at(i).offset.value();
      all[i].waits = all[i].waits || next.value().at(i).offset < ends.value().at(i).offset;
    }
  }
  return all;
}

}  // namespace reseq::chaos
