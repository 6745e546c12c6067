// Writing: records that an operator sends, each acknowledged before anybody is told that it is written.
// Thread rule: main thread.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cli/dead_letter.h"
#include "kafka/plain_producer.h"
#include "runtime/application/application.h"

namespace reseq::cli {

class Writing {
 public:
  static Result<Writing> open(const runtime::Application& application);

  // Partition: by the key, unless given.
  Result<> send(const std::string& topic, const std::optional<std::string>& key,
                const std::optional<std::string>& payload, const std::vector<OwnedHeader>& headers,
                std::optional<Partition> partition);
  // kTimeout: some may not be written.
  Result<> finish();

 private:
  explicit Writing(std::unique_ptr<kafka::PlainProducer> producer) : producer_(std::move(producer)) {}
  std::unique_ptr<kafka::PlainProducer> producer_;
};

}  // namespace reseq::cli
