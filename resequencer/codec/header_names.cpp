#include "codec/header_names.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "base/reserved_names.h"

namespace reseq::codec {
namespace {

constexpr std::string_view kPrefix = "reseq-";
constexpr std::string_view kControlPrefix = "reseq-control-";

struct Known {
  std::string_view name;
  HeaderKind kind;
};

constexpr std::array kRead = {
    Known{header::kId, HeaderKind::kId},
    Known{header::kOp, HeaderKind::kOp},
    Known{header::kSeq, HeaderKind::kSeq},
    Known{header::kEpoch, HeaderKind::kEpoch},
    Known{header::kTarget, HeaderKind::kTarget},
    Known{header::kTargets, HeaderKind::kTargets},
    Known{header::kCommand, HeaderKind::kCommand},
    Known{header::kVersion, HeaderKind::kVersion},
    Known{header::kControl, HeaderKind::kControl},
    Known{header::kRevision, HeaderKind::kRevision},
    Known{header::kReprocess, HeaderKind::kReprocess},
    Known{header::kControlId, HeaderKind::kControlId},
    Known{header::kControlUnknown, HeaderKind::kControlUnknown},
    Known{header::kControlDryRun, HeaderKind::kControlDryRun},
    Known{header::kObservedVersion, HeaderKind::kObservedVersion},
    Known{header::kControlPartition, HeaderKind::kControlPartition},
    Known{header::kControlExpectedSeq, HeaderKind::kControlExpectedSeq},
    Known{header::kControlExpectedEpoch, HeaderKind::kControlExpectedEpoch},
    Known{header::kControlExpectedVersion, HeaderKind::kControlExpectedVersion},
    Known{header::kPriority, HeaderKind::kPriority},
    Known{header::kProcessAt, HeaderKind::kProcessAt},
    Known{header::kExpiresAt, HeaderKind::kExpiresAt},
    Known{header::kAttempt, HeaderKind::kAttempt},
    Known{header::kLeaseUntil, HeaderKind::kLeaseUntil},
    Known{header::kFailure, HeaderKind::kFailure},
    Known{header::kFailureScope, HeaderKind::kFailureScope},
    Known{header::kError, HeaderKind::kError},
    Known{header::kEffect, HeaderKind::kEffect},
};

// By length, so that a length leads to at most seven candidates; of a length, those that are read stand first.
constexpr auto kKnown = [] {
  std::array<Known, kRead.size() + reserved::kHeaders.size()> all{};
  auto end = std::copy(kRead.begin(), kRead.end(), all.begin());
  for (const std::string_view name : reserved::kHeaders) *end++ = {name, HeaderKind::kReserved};
  for (std::size_t i = 1; i < all.size(); ++i)
    for (std::size_t j = i; j > 0 && all[j].name.size() < all[j - 1].name.size(); --j) std::swap(all[j], all[j - 1]);
  return all;
}();
constexpr std::size_t kLengthMax = header::kControlExpectedVersion.size();

// Entry n: the first known name of at least n bytes; names of n bytes are [n, n + 1).
constexpr auto kByLength = [] {
  std::array<std::uint8_t, kLengthMax + 2> first{};
  for (std::size_t length = 0; length < first.size(); ++length) {
    std::size_t i = 0;
    while (i < kKnown.size() && kKnown[i].name.size() < length) ++i;
    first[length] = static_cast<std::uint8_t>(i);
  }
  return first;
}();

}  // namespace

HeaderKind kind_of(std::string_view name) {
  if (name.size() <= kPrefix.size() || std::memcmp(name.data(), kPrefix.data(), kPrefix.size()) != 0)
    return HeaderKind::kOther;
  if (name.size() <= kLengthMax) {
    const std::size_t end = kByLength[name.size() + 1];
    for (std::size_t i = kByLength[name.size()]; i < end; ++i) {
      const Known& known = kKnown[i];
      if (known.name[kPrefix.size()] == name[kPrefix.size()] && known.name == name) return known.kind;
    }
  }
  return name.starts_with(kControlPrefix) ? HeaderKind::kReserved : HeaderKind::kOther;
}

bool is_of_journal(std::string_view name) {
  switch (kind_of(name)) {
    case HeaderKind::kPriority:
    case HeaderKind::kProcessAt:
    case HeaderKind::kExpiresAt:
    case HeaderKind::kAttempt:
    case HeaderKind::kLeaseUntil:
      return true;
    default:
      return false;
  }
}

const Header* find_header(std::span<const Header> headers, std::string_view name) {
  const auto found =
      std::find_if(headers.rbegin(), headers.rend(), [&](const Header& each) { return each.name == name; });
  return found == headers.rend() ? nullptr : &*found;
}

// NOLINTNEXTLINE(cppcoreguidelines-pro-type-member-init): kinds_ says what of last_ may be read
FoundHeaders::FoundHeaders(std::span<const Header> headers) {
  for (const Header& header : headers) {
    const HeaderKind kind = kind_of(header.name);
    kinds_.add(kind);
    last_[static_cast<std::size_t>(kind)] = &header;
  }
}

}  // namespace reseq::codec
