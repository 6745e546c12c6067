#include "consumers/stage/lease.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <string_view>
#include <utility>

#include "codec/header_names.h"

namespace reseq::stage {
namespace {

constexpr Milliseconds kAgainAfter{100};

std::optional<UnixMs> date_of(std::string_view text) {
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || value <= 0) return std::nullopt;
  return UnixMs(value);
}

}  // namespace

HeartbeatRecord heartbeat_of(const std::optional<std::string>& key, std::span<const OwnedHeader> work) {
  using namespace codec::header;  // NOLINT(google-build-using-namespace): names of headers
  HeartbeatRecord heartbeat{.key = key, .headers = {{std::string(kCommand), "heartbeat"}}};
  for (const std::string_view name : {kSeq, kEpoch, kRevision, kAttempt})
    if (auto value = last_header(work, name)) heartbeat.headers.push_back({std::string(name), std::move(*value)});
  return heartbeat;
}

std::optional<Lease> lease_of(std::span<const OwnedHeader> work, UnixMs written, const std::function<UnixMs()>& now) {
  const auto value = last_header(work, codec::header::kLeaseUntil);
  if (!value || !*value) return std::nullopt;
  const std::optional<UnixMs> until = date_of(**value);
  if (!until) return std::nullopt;
  const UnixMs from = written > UnixMs() && written < *until ? written : std::min(now(), *until);
  return Lease{.until = *until, .length = Milliseconds(until->value() - from.value())};
}

UnixMs beat_at(const Lease& lease) {
  return UnixMs(lease.until.value() - lease.length.value() + lease.length.value() / 3);
}

UnixMs stop_at(const Lease& lease) {
  return UnixMs(lease.until.value() - std::min(lease.length.value() / 6, kStopMarginMax.value()));
}

std::stop_token Leases::add(const Ticket& ticket, const Lease& lease, HeartbeatRecord heartbeat) {
  Held& held = leases_[ticket];
  held.lease = lease;
  held.heartbeat = std::move(heartbeat);
  return held.lost.get_token();
}

std::vector<HeartbeatRecord> Leases::begin_round(UnixMs now) {
  std::vector<HeartbeatRecord> due;
  if (round_under_way() || now < not_before_) return due;
  for (const auto& [ticket, held] : leases_) {
    if (now < beat_at(held.lease)) continue;
    round_.push_back(ticket);
    due.push_back(held.heartbeat);
  }
  round_at_ = now;
  return due;
}

void Leases::round_acknowledged() {
  for (const Ticket& ticket : std::exchange(round_, {})) {
    const auto held = leases_.find(ticket);
    if (held == leases_.end()) continue;
    Lease& lease = held->second.lease;
    lease.until = std::max(lease.until, UnixMs(round_at_.value() + lease.length.value()));
  }
}

void Leases::round_failed(UnixMs now) {
  round_.clear();
  not_before_ = UnixMs(now.value() + kAgainAfter.value());
}

std::vector<LostLease> Leases::take_lost(UnixMs now) {
  std::vector<LostLease> lost;
  for (auto held = leases_.begin(); held != leases_.end();) {
    const Lease& lease = held->second.lease;
    if (now < stop_at(lease)) {
      ++held;
      continue;
    }
    lost.push_back({held->first, Milliseconds(std::max<std::int64_t>(0, lease.until.value() - now.value()))});
    held->second.lost.request_stop();
    held = leases_.erase(held);
  }
  return lost;
}

}  // namespace reseq::stage
