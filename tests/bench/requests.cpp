#include "tests/bench/requests.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <stdexcept>
#include <thread>

#include "kafka/plain_producer.h"
#include "producers/load/random.h"
#include "tests/support/good.h"

namespace reseq::bench {

namespace {

constexpr std::uint64_t kSeed = 1;
constexpr Milliseconds kFlushLimit{120'000};
constexpr std::uint64_t kUnitSteps = std::uint64_t{1} << 53;  // what a double between 0 and 1 can tell apart

// Draws a document 0 .. n-1, the first most often.
class Zipf {
 public:
  explicit Zipf(std::uint64_t documents) : sums_(documents) {
    double sum = 0;
    for (std::size_t i = 0; i < sums_.size(); ++i) sums_[i] = sum += 1.0 / static_cast<double>(i + 1);
  }
  std::uint64_t draw(load::Random& random) const {
    const double unit = static_cast<double>(random.below(kUnitSteps)) / static_cast<double>(kUnitSteps);
    const auto found = std::upper_bound(sums_.begin(), sums_.end(), unit * sums_.back());
    return static_cast<std::uint64_t>(std::min(found, sums_.end() - 1) - sums_.begin());
  }

 private:
  std::vector<double> sums_;
};

}  // namespace

Requests::Requests(const Plan& plan) : last_(plan.documents), payload_bytes_(plan.payload_bytes) {
  all_.reserve(plan.records());
  const auto add = [this](std::uint64_t document) { all_.push_back({document, ++last_[document]}); };
  if (plan.each_once)
    for (std::uint64_t document = 0; document < plan.documents + plan.again_after; ++document) {
      for (std::uint64_t version = 0; version < plan.versions && document < plan.documents; ++version) add(document);
      if (plan.again_after > 0 && document >= plan.again_after) add(document - plan.again_after);
    }
  load::Random random(kSeed);
  const Zipf zipf(plan.choice == Choice::kZipf ? plan.documents : 0);
  for (std::uint64_t i = 0; i < plan.updates; ++i)
    add(plan.choice == Choice::kZipf ? zipf.draw(random) : random.below(plan.documents));
}

void Requests::send(const kafka::Connection& connection, const std::string& topic, const Sending& sending) const {
  auto producer = test::good(kafka::PlainProducer::open(connection));
  auto due = std::chrono::steady_clock::now();
  const auto pause = sending.per_second > 0 ? std::chrono::nanoseconds(std::llround(1e9 / sending.per_second))
                                            : std::chrono::nanoseconds(0);
  for (std::size_t i = sending.first; i < std::min(sending.end, all_.size()); ++i) {
    if (pause.count() > 0) std::this_thread::sleep_until(due += pause);
    const Request& request = all_[i];
    const std::string sequence = std::to_string(request.sequence);
    std::array<Header, 4> headers = {Header{"reseq-seq", sequence}, Header{"reseq-epoch", "0"},
                                     Header{"reseq-targets", kTargets}, Header{"reseq-priority", {}}};
    const bool wishes = !sending.priorities.empty();
    if (wishes) headers[3].value = sending.priorities[request.document % sending.priorities.size()];
    const auto sent = producer->send(topic, id_of(request.document), payload_of(request, payload_bytes_),
                                     std::span(headers).first(wishes ? 4 : 3));
    if (!sent) throw std::runtime_error("cannot load " + topic + ": " + sent.error().message);
  }
  if (const auto flushed = producer->flush(kFlushLimit); !flushed)
    throw std::runtime_error("cannot load " + topic + ": " + flushed.error().message);
}

std::string id_of(std::uint64_t document) {
  return "doc-" + std::to_string(document);
}

std::string payload_of(const Request& request, std::size_t bytes) {
  std::string payload = id_of(request.document) + " " + std::to_string(request.sequence) + " ";
  payload.resize(bytes, '.');
  return payload;
}

}  // namespace reseq::bench
