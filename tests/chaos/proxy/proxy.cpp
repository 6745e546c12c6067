#include "tests/chaos/proxy/proxy.h"

#include <algorithm>
#include <cerrno>
#include <list>
#include <mutex>
#include <poll.h>
#include <stdexcept>
#include <sys/eventfd.h>
#include <thread>
#include <unistd.h>
#include <utility>

#include "base/assert.h"
#include "tests/chaos/proxy/link.h"

namespace reseq::chaos {

namespace {

// Nothing that matters waits for it: every change wakes the thread.
constexpr std::chrono::milliseconds kIdle{500};

struct Door {
  std::uint16_t broker_port = 0;
  Socket listener;
};

class PollingProxy final : public Proxy {
 public:
  PollingProxy(const std::vector<std::uint16_t>& brokers, std::uint64_t seed)
      : exchange_{.rules = RuleBook(seed), .forwarded = {}}, wake_(::eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC)) {
    if (!wake_.open()) throw std::runtime_error("no descriptor for the proxy");
    for (const std::uint16_t port : brokers) doors_.push_back({.broker_port = port, .listener = Socket::listener()});
    thread_ = std::thread([this] { run(); });
  }

  ~PollingProxy() override {
    {
      const std::lock_guard lock(mutex_);
      ending_ = true;
    }
    wake();
    thread_.join();
  }

  [[nodiscard]] std::uint16_t port(int broker) const override {
    return doors_.at(static_cast<std::size_t>(broker - 1)).listener.port();
  }

  RuleId add(Rule rule) override {
    const std::lock_guard lock(mutex_);
    return exchange_.rules.add(std::move(rule));
  }

  void remove(RuleId rule) override {
    change([&] { exchange_.rules.remove(rule); });
  }
  void release(RuleId rule) override {
    change([&] { exchange_.rules.release(rule); });
  }
  void clear() override {
    change([&] { exchange_.rules.clear(); });
  }

  [[nodiscard]] RuleCounts counts(RuleId rule) const override {
    const std::lock_guard lock(mutex_);
    return exchange_.rules.counts(rule);
  }

  std::size_t cut(const Match& match) override {
    std::size_t matching = 0;
    change([&] {
      for (Link& link : links_) {
        if (!fits(match, link.origin())) continue;
        link.doom();
        ++matching;
      }
    });
    return matching;
  }

  [[nodiscard]] std::map<Api, std::uint64_t> forwarded() const override {
    const std::lock_guard lock(mutex_);
    return exchange_.forwarded;
  }

  [[nodiscard]] std::size_t connections() const override {
    const std::lock_guard lock(mutex_);
    return links_.size();
  }

 private:
  template <typename Change>
  void change(Change make) {
    {
      const std::lock_guard lock(mutex_);
      make();
    }
    wake();
  }

  void wake() const {
    const std::uint64_t one = 1;
    (void)!::write(wake_.fd(), &one, sizeof one);  // full = it will wake up anyway
  }

  void run() {
    std::vector<pollfd> polled;
    std::vector<Link*> whose;
    for (;;) {
      const int limit_ms = prepare(polled, whose);
      if (limit_ms < 0) return;
      const int ready = ::poll(polled.data(), polled.size(), limit_ms);
      RESEQ_ASSERT(ready >= 0 || errno == EINTR, "poll() of the proxy");
      const std::lock_guard lock(mutex_);
      work(polled, whose);
    }
  }

  // Everything that could go has gone: collects what to wait for. Negative: it is over.
  int prepare(std::vector<pollfd>& polled, std::vector<Link*>& whose) {
    const std::lock_guard lock(mutex_);
    if (ending_) {
      links_.clear();
      return -1;
    }
    const auto now = Clock::now();
    auto until = now + kIdle;
    polled.assign(1, {.fd = wake_.fd(), .events = POLLIN, .revents = 0});
    for (const Door& door : doors_) polled.push_back({.fd = door.listener.fd(), .events = POLLIN, .revents = 0});
    whose.clear();
    for (Link& link : links_) {
      whose.push_back(&link);
      for (const auto side : {Link::Side::kClient, Link::Side::kBroker})
        polled.push_back({.fd = link.fd(side), .events = link.events(side), .revents = 0});
      if (const auto due = link.next_due(now)) until = std::min(until, *due);
    }
    const auto wait = std::chrono::ceil<std::chrono::milliseconds>(until - now);
    return static_cast<int>(std::max<std::int64_t>(0, wait.count()));
  }

  void work(const std::vector<pollfd>& polled, const std::vector<Link*>& whose) {
    const auto now = Clock::now();
    std::uint64_t ignored = 0;
    (void)!::read(wake_.fd(), &ignored, sizeof ignored);
    std::size_t at = 1 + doors_.size();
    for (Link* link : whose) {
      link->on_events(Link::Side::kClient, polled[at++].revents, now);
      link->on_events(Link::Side::kBroker, polled[at++].revents, now);
    }
    for (std::size_t i = 0; i < doors_.size(); ++i) {
      if (polled[1 + i].revents != 0) welcome(static_cast<int>(i) + 1);
    }
    for (Link& link : links_) link.flush(now);
    links_.remove_if([](Link& link) { return link.over(); });
  }

  void welcome(int broker) {
    const Door& door = doors_[static_cast<std::size_t>(broker - 1)];
    for (Socket client = door.listener.accept(); client.open(); client = door.listener.accept()) {
      Socket upstream;
      if (links_.size() < kLinksMax && !exchange_.rules.refuses(broker)) upstream = Socket::connect(door.broker_port);
      if (!upstream.open())
        client.reset();
      else
        links_.emplace_back(exchange_, broker, std::move(client), std::move(upstream));
    }
  }

  mutable std::mutex mutex_;  // guards all below it but doors_ and wake_, which do not change
  Exchange exchange_;
  std::list<Link> links_;
  bool ending_ = false;
  std::vector<Door> doors_;
  Socket wake_;
  std::thread thread_;
};

}  // namespace

std::unique_ptr<Proxy> Proxy::open(const std::vector<std::uint16_t>& brokers, std::uint64_t seed) {
  return std::make_unique<PollingProxy>(brokers, seed);
}

}  // namespace reseq::chaos
