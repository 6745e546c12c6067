#include "tests/chaos/workload/producers.h"

#include <algorithm>
#include <chrono>
#include <thread>
#include <utility>

#include "kafka/plain_producer.h"

namespace reseq::chaos {

namespace {

using Clock = std::chrono::steady_clock;

constexpr Milliseconds kPollSlice{10};
constexpr Milliseconds kFlushSlice{200};
// A stream that never pauses has always something on its way; then it waits now and then until nothing is.
constexpr std::chrono::milliseconds kSettleEvery{1'000};
constexpr std::chrono::milliseconds kReopenPause{500};
// A stall is made up for, but by no more than this, so that it does not end in a burst.
constexpr std::chrono::seconds kDebtMax{1};
constexpr Milliseconds kDeliveryLimit{std::int64_t{24} * 3600 * 1000};

}  // namespace

// One producer and its thread. The other threads read `acknowledged`, `reopened` and `ended`.
class Producers::Stream {
 public:
  Stream(Producers& all, const Plan& plan, const ProducersSettings& settings, std::uint32_t producer)
      : all_(all),
        plan_(plan),
        connection_(settings.connection),
        requests_(settings.application_id + ".requests"),
        control_(settings.application_id + ".control"),
        producer_number_(producer),
        thread_([this] { run(); }) {}
  ~Stream() { thread_.join(); }

  std::atomic<std::uint64_t> acknowledged = 0;
  std::atomic<std::uint64_t> reopened = 0;
  std::atomic<bool> ended = false;

 private:
  void run() {
    while (!all_.give_up_ && !(all_.stop_ && acknowledged == reached_)) {
      if (!producer_ && !open()) {
        std::this_thread::sleep_for(kReopenPause);
        continue;
      }
      if (may_write()) {
        if (!write()) reopen();
      } else {
        producer_->poll(kPollSlice);
      }
      if (producer_ && !settle()) reopen();
    }
    producer_.reset();
    ended = true;
  }

  bool open() {
    kafka::PlainProducerSettings settings;
    settings.delivery_timeout = kDeliveryLimit;
    settings.queue_wait = Milliseconds(0);
    auto opened = kafka::PlainProducer::open(connection_, settings);
    if (!opened) return false;
    producer_ = std::move(opened).value();
    sent_ = 0;
    settled_at_ = Clock::now();
    return true;
  }

  // Everything that was not acknowledged is written again.
  void reopen() {
    producer_.reset();
    next_ = acknowledged;
    ++reopened;
    std::this_thread::sleep_for(kReopenPause);
  }

  // What was begun is brought to its end; something new comes at its time, if others can follow.
  bool may_write() {
    if (next_ < reached_) return true;
    const Clock::time_point now = Clock::now();
    due_ = std::max(due_, now - kDebtMax);
    if (all_.stop_ || all_.rests_ || due_ > now || all_.lag_.behind()) return false;
    due_ += std::chrono::nanoseconds(1'000'000'000U * plan_.settings().producers / all_.per_second_);
    return true;
  }

  bool write() {
    for (const PlannedRecord& record : plan_.records(plan_.number(producer_number_, next_)))
      if (!send(record)) return false;
    reached_ = std::max(reached_, ++next_);
    return true;
  }

  bool send(const PlannedRecord& record) {
    std::vector<Header> headers;
    for (const tagging::RecordHeader& header : record.headers) headers.push_back({header.name, header.value});
    while (!all_.give_up_) {
      const Result<> sent = producer_->send(record.to_control ? control_ : requests_, record.key, record.payload,
                                            headers, {}, record.partition);
      if (sent) break;
      if (sent.error().what_to_do != ErrorClass::kRetriable) return false;
      producer_->poll(kPollSlice);
    }
    ++sent_;
    return true;
  }

  bool settle() {
    producer_->poll(Milliseconds(0));
    if (producer_->failed() > 0) return false;
    const Clock::time_point now = Clock::now();
    if (producer_->delivered() < sent_ && now - settled_at_ > kSettleEvery) {
      const Result<> flushed = producer_->flush(kFlushSlice);
      if (!flushed && flushed.error().what_to_do != ErrorClass::kTimeout) return false;
    }
    if (producer_->delivered() == sent_) {
      acknowledged = next_;
      settled_at_ = now;
    }
    return true;
  }

  Producers& all_;
  const Plan& plan_;
  kafka::Connection connection_;
  std::string requests_;
  std::string control_;
  std::uint32_t producer_number_;
  std::unique_ptr<kafka::PlainProducer> producer_;
  std::uint64_t next_ = 0;     // place in the stream
  std::uint64_t reached_ = 0;  // the furthest that next_ ever was
  std::uint64_t sent_ = 0;     // records, by this producer
  Clock::time_point due_ = Clock::now();
  Clock::time_point settled_at_;
  std::thread thread_;  // last: it uses the others
};

Producers::Producers(const Plan& plan, const ProducersSettings& settings)
    : lag_(settings.connection, settings.application_id, settings.lag_max) {
  set_pace(settings.requests_per_second);
  for (std::uint32_t producer = 0; producer < plan.settings().producers; ++producer)
    streams_.push_back(std::make_unique<Stream>(*this, plan, settings, producer));
}

Producers::~Producers() {
  give_up_ = true;
  streams_.clear();
}

Result<> Producers::stop(Milliseconds limit) {
  stop_ = true;
  const Clock::time_point until = Clock::now() + std::chrono::milliseconds(limit.value());
  const auto ended = [](const std::unique_ptr<Stream>& stream) { return stream->ended.load(); };
  while (!std::all_of(streams_.begin(), streams_.end(), ended)) {
    if (Clock::now() > until)
      return Error{.what_to_do = ErrorClass::kTimeout, .message = "the producers still wait for acknowledgements"};
    std::this_thread::sleep_for(std::chrono::milliseconds(kPollSlice.value()));
  }
  return Done{};
}

std::vector<std::uint64_t> Producers::written() const {
  std::vector<std::uint64_t> written;
  for (const auto& stream : streams_) written.push_back(stream->acknowledged);
  return written;
}

std::uint64_t Producers::total() const {
  std::uint64_t sum = 0;
  for (const auto& stream : streams_) sum += stream->acknowledged;
  return sum;
}

std::uint64_t Producers::reopened() const {
  std::uint64_t sum = 0;
  for (const auto& stream : streams_) sum += stream->reopened;
  return sum;
}

}  // namespace reseq::chaos
