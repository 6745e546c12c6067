#include "cli/writing.h"

#include "kafka/error_questions.h"
#include "runtime/application/clients.h"

namespace reseq::cli {

namespace {

constexpr Milliseconds kWriteLimit{30'000};

}  // namespace

Result<Writing> Writing::open(const runtime::Application& application) {
  kafka::PlainProducerSettings settings;
  settings.partitioner = runtime::cluster_settings_of(application, std::nullopt).partitioner;
  settings.delivery_timeout = kWriteLimit;
  auto producer = kafka::PlainProducer::open(runtime::connection_of(application.settings), settings);
  if (!producer) return producer.error();
  return Writing(std::move(producer).value());
}

Result<> Writing::send(const std::string& topic, const std::optional<std::string>& key,
                       const std::optional<std::string>& payload, const std::vector<OwnedHeader>& headers,
                       std::optional<Partition> partition) {
  std::vector<Header> views;
  views.reserve(headers.size());
  for (const auto& [name, value] : headers)
    views.push_back({name, value ? std::optional<std::string_view>(*value) : std::nullopt});
  return producer_->send(topic, key, payload, views, std::nullopt, partition);
}

Result<> Writing::finish() {
  return producer_->flush(kWriteLimit);
}

}  // namespace reseq::cli
