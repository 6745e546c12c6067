#include "admin/channel.h"

#include <chrono>
#include <utility>
#include <variant>

#include "kafka/admin.h"
#include "kafka/librdkafka_cluster.h"

namespace reseq::admin {

namespace {

constexpr kafka::TopicIndex kRead{0};
constexpr Milliseconds kExistsLimit{2'000};
constexpr std::chrono::seconds kServeEvery{1};
// A client has given up by then.
constexpr Milliseconds kDeliveryLimit{10'000};
// Requests and replies are small and few.
constexpr std::uint64_t kQueueBytesMax = 8 * 1024 * 1024;

}  // namespace

Result<std::unique_ptr<Channel>> Channel::open(kafka::ClusterSettings clients, std::string read,
                                               const std::string& write, Milliseconds limit) {
  auto admin = kafka::Admin::open(clients.connection);
  if (!admin) return admin.error();
  const auto partitions = admin.value()->partition_count(read, limit);
  if (!partitions) return partitions.error();
  // Better now than when a record cannot be sent.
  if (const auto exists = admin.value()->partition_count(write, limit); !exists) return exists.error();

  std::unique_ptr<Channel> channel(new Channel);
  for (std::int32_t i = 0; i < partitions.value(); ++i) channel->partitions_.push_back({kRead, Partition(i)});
  channel->connection_ = clients.connection;
  if (auto opened = channel->open_producer(); !opened) return opened.error();

  clients.topics = {std::move(read)};
  clients.fetch_queue_bytes_max = kQueueBytesMax;
  clients.message_bytes_max = kQueueBytesMax;
  auto cluster = kafka::open_cluster(std::move(clients));
  if (!cluster) return cluster.error();
  channel->cluster_ = std::move(cluster).value();
  auto reader = channel->cluster_->log_reader();
  if (!reader) return reader.error();
  channel->reader_ = std::move(reader).value();
  if (auto reads = channel->read_from_end(limit); !reads) return reads.error();
  return channel;
}

Result<> Channel::open_producer() {
  kafka::PlainProducerSettings producing;
  producing.idempotent = false;  // a question or an answer that comes twice is none more
  producing.linger = Milliseconds(0);
  producing.delivery_timeout = kDeliveryLimit;
  producing.queue_bytes_max = kQueueBytesMax;
  producing.queue_wait = Milliseconds(0);
  auto producer = kafka::PlainProducer::open(connection_, producing);
  if (!producer) return producer.error();
  producer_ = std::move(producer).value();
  return Done{};
}

Result<> Channel::read_from_end(Milliseconds limit) {
  const auto ends = reader_->high_watermarks(partitions_, limit);
  if (!ends) return ends.error();
  return reader_->assign(ends.value());
}

Result<std::optional<kafka::Record>> Channel::poll(Milliseconds limit) {
  producer_->poll(Milliseconds(0));
  if (const auto now = std::chrono::steady_clock::now(); now >= serve_at_) {
    reader_->serve();
    serve_at_ = now + kServeEvery;
  }
  auto polled = reader_->poll(limit);
  if (!polled) return polled.error();
  if (auto* record = std::get_if<kafka::Record>(&polled.value())) return std::optional(std::move(*record));
  // Retention has taken what was next while nobody wrote: what was asked before is too old to be answered.
  if (const auto* failed = std::get_if<kafka::PartitionFailure>(&polled.value())) return failed->error;
  return std::optional<kafka::Record>();
}

Result<> Channel::send(std::string_view topic, std::string_view key, std::string_view payload,
                       std::span<const Header> headers) {
  // After a failure a producer sends nothing more.
  if (producer_->failed() != 0)
    if (auto opened = open_producer(); !opened) return opened;
  return producer_->send(topic, key, payload, headers);
}

bool Channel::exists(const std::string& topic) const {
  auto admin = kafka::Admin::open(connection_);
  return admin.ok() && admin.value()->partition_count(topic, kExistsLimit).ok();
}

Result<> Channel::flush(Milliseconds limit) {
  return producer_->flush(limit);
}

std::optional<std::string_view> header_of(const kafka::Record& record, std::string_view name) {
  for (auto header = record.headers.rbegin(); header != record.headers.rend(); ++header)
    if (header->name == name) return header->value;
  return std::nullopt;
}

}  // namespace reseq::admin
