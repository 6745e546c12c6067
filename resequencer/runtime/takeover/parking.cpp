#include "runtime/takeover/parking.h"

#include <utility>

#include "base/log.h"

namespace reseq::runtime {

namespace {

constexpr Milliseconds kParkedAgainEvery{600'000};

}  // namespace

void Parking::park(Parked why, std::string detail) {
  why_ = why;
  detail_ = std::move(detail);
  since_ = clock_.steady();
  log();
}

void Parking::refuse(Parked why, const std::string& reason) {
  park(why, reason);
  refused_ = "partition " + std::to_string(partition_.value()) + ": " + reason;
}

void Parking::remind() {
  if (clock_.steady().value() - logged_at_.value() >= kParkedAgainEvery.value()) log();
}

void Parking::log() {
  logged_at_ = clock_.steady();
  spdlog::error("partition={} parked reason={} minutes={} detail={} first_step={}", partition_.value(), name_of(*why_),
                (logged_at_.value() - since_.value()) / 60'000, log::outside(detail_), log::outside(first_step(*why_)));
}

}  // namespace reseq::runtime
