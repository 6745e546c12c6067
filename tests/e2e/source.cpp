#include "tests/e2e/source.h"

#include <optional>
#include <stdexcept>
#include <thread>
#include <vector>

namespace reseq::test {

namespace {

constexpr Milliseconds kFlushLimit{60'000};
constexpr std::size_t kPaceEvery = 64;

void require(const Result<>& done) {
  if (!done) throw std::runtime_error(done.error().message);
}

}  // namespace

std::string silent_id(std::size_t number) {
  return std::string(kSilentPrefix) + std::to_string(number);
}

Source::Source(const ResequencerRun& run) : topic_(run.topic("requests")) {
  auto opened = kafka::PlainProducer::open(run.connection());
  if (!opened) throw std::runtime_error(opened.error().message);
  producer_ = std::move(opened).value();
}

void Source::send(const Workload& workload, std::size_t begin, std::size_t end, std::chrono::milliseconds spread,
                  const std::atomic<bool>& hurry) {
  const auto start = std::chrono::steady_clock::now();
  for (std::size_t i = begin; i < end; ++i) {
    const WorkloadRequest& request = workload.requests()[i];
    const std::string sequence = std::to_string(request.sequence);
    const std::string payload = request.payload();
    std::vector<Header> headers = {{"reseq-seq", sequence}};
    if (!request.targets.empty()) headers.push_back({"reseq-targets", request.targets.front()});
    require(producer_->send(topic_, request.id,
                            request.removal ? std::nullopt : std::optional<std::string_view>(payload), headers));
    if (i % kPaceEvery == 0 && !hurry)
      std::this_thread::sleep_until(start + spread * static_cast<std::int64_t>(i - begin) /
                                                static_cast<std::int64_t>(end - begin));
  }
  flush();
}

void Source::send_silent(std::size_t begin, std::size_t end) {
  for (std::size_t i = begin; i < end; ++i) {
    const std::vector<Header> headers = {{"reseq-seq", "1"}};
    require(producer_->send(topic_, silent_id(i), "no result will come", headers));
  }
  flush();
}

void Source::flush() {
  require(producer_->flush(kFlushLimit));
}

}  // namespace reseq::test
