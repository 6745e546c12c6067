// Rights: what the brokers' ACLs let this user do. Kafka tells ACLs only to administrators, so each right is tried with
// a request that brokers refuse for another reason as soon as the ACL let it pass: nothing is written, nobody joins the
// group, no producer is fenced (docs/decisions/0082-rights-are-tried.md). Describe is part of Read and Write.
// Thread rule: one thread; each call has clients of its own.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "kafka/settings.h"

namespace reseq::kafka {

enum class Resource : std::uint8_t { kTopic, kGroup, kTransactionalId };
enum class Operation : std::uint8_t { kRead, kWrite, kDescribeConfigs };

// kTopic: any operation. kGroup: kRead. kTransactionalId: kWrite.
struct Right {
  Resource resource = Resource::kTopic;
  std::string name;
  Operation operation = Operation::kRead;
  friend bool operator==(const Right&, const Right&) = default;
};

enum class Granted : std::uint8_t { kUnknown, kYes, kNo };

struct RightAnswer {
  Right right;
  Granted granted = Granted::kUnknown;
  std::string why = "no answer";  // of kUnknown
};

// One answer for each, in their order. The time limit is for each kind of question. An error: no client can be made.
[[nodiscard]] Result<std::vector<RightAnswer>> ask_rights(const Connection& connection, std::span<const Right> rights,
                                                          Milliseconds limit);

}  // namespace reseq::kafka
