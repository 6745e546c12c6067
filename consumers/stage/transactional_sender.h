// TransactionalSender: keeps the results of a stage until every earlier record of their partition is finished, and then
// sends them together with the offsets of those records in one Kafka transaction, of bounded size.
// Invariants: a result is sent only in the transaction that commits the offset of its record, so both are there or
// neither; after a transaction whose end is not known nothing is begun before a new producer has ended it;
// the metadata of the group is that of the assignment that gave the partitions.
// Thread rule: one thread.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "consumers/stage/work_reader.h"
#include "kafka/cluster.h"

namespace reseq::stage {

// What is kept of one record; one result always is.
inline constexpr std::size_t kRecordResultsMax = 1'000;
inline constexpr std::uint64_t kRecordBytesMax = std::uint64_t{64} << 20;
// What one transaction takes, so that it ends in time whatever has piled up; one record it always takes.
inline constexpr std::size_t kTransactionResultsMax = 10'000;
inline constexpr std::uint64_t kTransactionBytesMax = std::uint64_t{32} << 20;

// The topics that the cluster of a transactional stage is opened with.
inline constexpr kafka::TopicIndex kWorkTopic{0};
inline constexpr kafka::TopicIndex kCommandsTopic{1};

// The error of a stage that was fenced, with its reason for a person.
[[nodiscard]] Error same_instance(const Error& fenced);

class TransactionalSender final : public ResultSender {
 public:
  explicit TransactionalSender(std::shared_ptr<kafka::Cluster> cluster) : cluster_(std::move(cluster)) {}

  // Keeps the result. kInvalid: it is larger than the topic allows, or its record has too many.
  Result<> send(const Ticket& ticket, std::optional<std::string_view> key, std::optional<std::string_view> payload,
                std::span<const OwnedHeader> headers) override;
  // What was kept since the last call: it goes out when its offset does.
  Result<std::vector<Ticket>> acknowledged(Milliseconds limit) override;
  [[nodiscard]] std::size_t held() const override { return held_.size(); }
  [[nodiscard]] bool holds(const Ticket& ticket) const override { return held_.contains(ticket); }

  // Good: no transaction of this stage, or of the one before it, is open or on its way any more, so that committed
  // offsets mean what they say. kTimeout, kRetriable: ask again.
  Result<> settle(Milliseconds limit);

  // The results of all records before `next`, and `next`, in one transaction; waits for its end, a few seconds at most.
  // kTimeout: nothing was begun, try again. kRetriable: likewise, or only the first part was committed, because all of
  // it is too much for one transaction. kAbort: settle(), then the committed offsets say whether it happened. kInvalid,
  // kFatal, kFenced: it never will.
  Result<> commit(std::span<const NextOffset> next, const kafka::GroupMetadata& group);

  // Nothing of the partition is sent any more.
  void drop(Partition partition);

 private:
  struct Held {
    std::optional<std::string> key;
    std::optional<std::string> payload;
    std::vector<OwnedHeader> headers;
  };
  struct HeldRecord {
    std::vector<Held> results;
    std::uint64_t bytes = 0;
  };

  // The beginning of what is to be committed that fits one transaction.
  [[nodiscard]] std::vector<NextOffset> first_part(std::span<const NextOffset> next) const;
  Result<> run_transaction(std::span<const NextOffset> next, const kafka::GroupMetadata& group);
  Result<> queue(const Held& result);
  // The call with the same arguments until it is good or fails for good, within what is left of the transaction's time.
  template <typename Call>
  Result<> repeat(Call call);
  Error failed(Error error);
  void forget(std::span<const NextOffset> next);

  std::shared_ptr<kafka::Cluster> cluster_;
  std::unique_ptr<kafka::Producer> producer_;  // none: its predecessor was given up, or there was none yet
  bool initialised_ = false;
  std::uint64_t record_bytes_max_ = 0;  // 0: the topic was not asked yet
  std::map<Ticket, HeldRecord> held_;   // by partition and offset
  std::vector<Ticket> kept_;            // not told yet
  int waits_left_ = 0;
  int failures_ = 0;  // transactions in a row
  int fenced_ = 0;    // likewise
};

}  // namespace reseq::stage
