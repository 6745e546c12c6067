// Settings of the Kafka clients: how to reach the brokers, who we are, and the time limits that hang together.
// What a guarantee rests on is set here and refused as a passed-through property.
// Thread rule: plain values; the log callback is called from any thread.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "kafka/cluster.h"
#include "model/ids.h"

namespace reseq::kafka {

// How long brokers may take to answer one question of a program that can do nothing without the answer. A connection
// that has to be made again, or a leader that is being elected, fits in, and a person who waits does not give up.
// Whoever has work to go on with, or asks again anyway, waits less.
inline constexpr Milliseconds kBrokerAnswerLimit{10'000};

// Level as in syslog (0 emergency … 7 debug), the part of librdkafka that speaks, its text.
using LogCallback = std::function<void(int level, std::string_view facility, std::string_view text)>;
inline constexpr int kLogError = 3;
inline constexpr int kLogWarning = 4;

// Writes one escaped line per message to stderr.
void log_to_stderr(int level, std::string_view facility, std::string_view text);
// Errors alone. Warnings are about what librdkafka repairs by itself; they would tear a progress line.
void log_errors_to_stderr(int level, std::string_view facility, std::string_view text);
// A line of the program's log, whatever format that has.
void log_to_log(int level, std::string_view facility, std::string_view text);

using Properties = std::vector<std::pair<std::string, std::string>>;

// What every client needs.
struct Connection {
  std::string bootstrap_servers;
  std::string client_id = "resequencer";
  Properties librdkafka = {};  // passed to librdkafka (TLS, SASL, …); see owned_properties()
  LogCallback log = log_to_stderr;
  // Nothing is known of a request that was not answered within this time.
  Milliseconds socket_timeout{5'000};
};

// What the clients of one worker need.
struct ClusterSettings {
  Connection connection;
  std::vector<std::string> topics = {};  // TopicIndex is the place in this list
  std::string group_id;
  std::string group_instance_id = {};  // static member; empty = dynamic
  std::string transactional_id;
  bool recycle_on_doubt = true;                // off: in_doubt() is never true (Guards)
  bool membership_required = true;             // off: offsets are sent without a membership when there is none (Guards)
  std::string partitioner = "murmur2_random";  // of records without an explicit partition: librdkafka's word
  Milliseconds session_timeout{10'000};
  Milliseconds transaction_timeout{10'000};
  Milliseconds max_poll_interval{300'000};
  std::uint64_t message_bytes_max = 20 * 1024 * 1024;  // largest record that is read or written
  std::uint64_t batch_bytes_max = 1'000'000;           // of a produced batch: at most max.message.bytes of its topic
  std::uint32_t headers_max = 1000;                    // a consumed record with more comes without them, and says so
  std::uint64_t fetch_queue_bytes_max = 64 * 1024 * 1024;  // fetched and not yet polled, per client
};

// Properties that must not be passed through, each with the reason or the setting to use instead.
struct OwnedProperty {
  std::string_view name;
  std::string_view instead;
};
[[nodiscard]] const std::vector<OwnedProperty>& owned_properties();

// kInvalid names the property or setting, and the fix.
[[nodiscard]] Result<> check(const Connection& connection);
[[nodiscard]] Result<> check(const ClusterSettings& settings);

}  // namespace reseq::kafka
