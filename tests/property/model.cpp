// The world's settings.
#include "tests/property/model.h"

#include <string_view>

#include "tests/gate/window_gate.h"

namespace reseq::property {
namespace {

constexpr Header kRoutingHeader{"kind", "catalogue"};
constexpr std::array<Header, 2> kRoutingHeaders = {Header{"kind", "first is not last"}, kRoutingHeader};

TargetSet first_of(TargetSet targets) {
  return TargetSet::of(targets.first());
}

TargetSet last_of(TargetSet targets) {
  TargetSet last;
  for (TargetSet rest = targets; !rest.empty(); rest = rest.without(first_of(rest))) last = first_of(rest);
  return last;
}

std::vector<engine::Route> routes_of(TargetSet all) {
  engine::Route by_prefix;
  by_prefix.id_prefix = "al";
  by_prefix.targets = first_of(all);
  engine::Route by_glob;
  by_glob.id_glob = "b?[st]a*";
  by_glob.targets = last_of(all);
  engine::Route by_header;
  by_header.header = std::string(kRoutingHeader.name);
  by_header.header_value = std::string(*kRoutingHeader.value);
  by_header.targets = first_of(all) | last_of(all);
  return {by_prefix, by_glob, by_header};
}

}  // namespace

TargetSet Model::routed(const Registration& what) const {
  if (!context.routes.empty()) {
    if (what.id == "alpha") return first_of(context.all_targets);
    if (what.id == "beta") return last_of(context.all_targets);
    if (!what.headers.empty()) return first_of(context.all_targets) | last_of(context.all_targets);
  }
  return context.default_targets;
}

Model model_of(const Script& script) {
  const auto chance = [&](Setting which, unsigned of_256) { return script.setting(which) > 255 - of_256; };
  Model model;
  model.documents = 1 + script.setting(Setting::kDocumentCount) % 4;
  model.targets = 1 + script.setting(Setting::kTargetCount) % kTargets;
  engine::Context& context = model.context;
  const std::uint64_t all = (std::uint64_t{1} << model.targets) - 1;
  context.all_targets = TargetSet(all);
  const std::uint8_t by_default = script.setting(Setting::kDefaultTargets);
  if (by_default < 240) context.default_targets = TargetSet(by_default % 3 == 0 ? all : (by_default & all));
  if (chance(Setting::kRoutes, 100)) context.routes = routes_of(context.all_targets);
  if (chance(Setting::kTap, 50)) context.intake = engine::Intake::kTap;
  model.producers_send_epochs = chance(Setting::kEpochs, 120);
  context.requests_carry_epochs = model.producers_send_epochs;
  using enum engine::OnUnregistered;
  context.policies.on_unregistered = chance(Setting::kOnUnregistered, 90) ? kDrop : kDeadLetter;
  context.policies.on_unregistered_target = chance(Setting::kOnUnregisteredTarget, 90) ? kDrop : kDeadLetter;
  if (chance(Setting::kOnMissing, 120)) context.policies.on_missing = engine::OnMissing::kRedirect;
  model.stops_on_missing = chance(Setting::kOnMissing, 60);
  if (model.stops_on_missing) context.policies.on_missing = engine::OnMissing::kStop;
  if (chance(Setting::kMonotonic, 80)) context.monotonic = TargetSet(script.setting(Setting::kMonotonic) & all);
  if (chance(Setting::kStarvation, 120)) context.starvation_after = Milliseconds(kStarvationMs);
  if (chance(Setting::kTimeout, 120)) context.registration_timeout = Milliseconds(kTimeoutMs);
  context.watermark_retention = Milliseconds(kRetentionMs);
  context.max_clock_drift = Milliseconds(kDriftMs);
  context.work_bytes_max = kBytesMax;
  context.output_bytes_max.fill(kBytesMax);
  if (!model.tap() && chance(Setting::kGate, 100)) context.gate = &window_gate();
  model.skips_unchanged = !model.tap() && chance(Setting::kUnchanged, 90);
  if (chance(Setting::kEvents, 80)) model.events = engine::EventPolicy::kDrops;
  if (chance(Setting::kEvents, 40)) model.events = engine::EventPolicy::kAll;
  return model;
}

const engine::Gate& window_gate() {
  static const gate::WindowGate gate({.window = Milliseconds(kWindowMs),
                                      .every = 2,
                                      .drained_max = kDrainedMax,
                                      .partitions = 4,
                                      .reference_above = kReferenceAbove});
  return gate;
}

const Wish* wish_for(Op op, PayloadHash payload, bool other_headers) {
  static const auto wishes = [] {
    std::array<std::array<Wish, 4>, kPayloads> all;
    for (std::uint64_t number = 0; number < kPayloads; ++number)
      for (std::uint64_t kind = 0; kind < 4; ++kind) all[number][kind].content = Digest{number, kind + 1};
    return all;
  }();
  return &wishes[payload.value() % kPayloads][(op == Op::kDelete ? 1 : 0) + (other_headers ? 2 : 0)];
}

std::span<const Header> routing_headers() {
  return kRoutingHeaders;
}

Sequence sequence_of(std::uint32_t number) {
  const std::array<char, 2> bytes = {static_cast<char>(number >> 8), static_cast<char>(number & 0xFF)};
  return Sequence(std::string_view(bytes.data(), bytes.size()));
}

}  // namespace reseq::property
