// Questions about an error whose answer decides which fix is named to a person.
// Thread rule: pure functions.
#pragma once

#include "base/result.h"

namespace reseq::kafka {

[[nodiscard]] bool is_unknown_topic(const Error& error);
// A batch whose checksum is wrong, or whose format no version has. Librdkafka does not read it again, it goes on behind
// it as well as it can.
[[nodiscard]] bool is_damage(const Error& error);
// Of a read. The log does not have the next record any more, or no answer can hold it: so it stays until a person acts.
// What else keeps a partition from being read may pass: a permission, the version of a broker.
[[nodiscard]] bool is_out_of_reach(const Error& error);
// Of a read. The offset is none that the log has, or was when it was asked for.
[[nodiscard]] bool is_out_of_range(const Error& error);
// Whatever it does to a transaction, nothing that the transaction holds is its cause: brokers that move, are slow or
// gone, a membership that changed.
[[nodiscard]] bool passes_by_itself(const Error& error);
// The brokers know us, but an ACL is missing.
[[nodiscard]] bool is_forbidden(const Error& error);
// No TLS connection came about. What ask_cluster_id() tells names the fix.
[[nodiscard]] bool is_tls_trouble(const Error& error);
// The brokers do not let us in: user, password, mechanism or certificate.
[[nodiscard]] bool is_refused_login(const Error& error);

}  // namespace reseq::kafka
