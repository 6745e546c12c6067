// Recovering: an application that has lived, whose state is then damaged, and what its processes say of each partition.
// Thread rule: one thread.
#pragma once

#include <csignal>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <memory>
#include <stdexcept>
#include <string>
#include <sysexits.h>
#include <thread>
#include <vector>

#include "kafka/plain_producer.h"
#include "tests/e2e/outputs.h"
#include "tests/e2e/patience.h"
#include "tests/operator/operator.h"
#include "tests/recovery/written_state.h"
#include "tests/support/broker.h"

namespace reseq::test {

class Recovering : public testing::Test {
 protected:
  static constexpr int kLimitMs = 60'000;
  static constexpr std::chrono::milliseconds kWait{60'000};

  // A broker that is slow, because the machine is, answers at the second time.
  template <typename Read>
  static auto insist(const Read& read) {
    for (int failed = 0;; ++failed) try {
        return read();
      } catch (const std::runtime_error&) {
        if (failed == 5) throw;
        std::this_thread::sleep_for(std::chrono::seconds(1));
      }
  }

  // Topics with so many partitions, and times as short as brokers and clients allow. `more`: further keys.
  void init(int partitions, const std::string& more = "") {
    partitions_ = partitions;
    shop.keys = "init.partitions = " + std::to_string(partitions) + "\ninit.output_partitions = 1\n" +
                "transaction.timeout.ms = 5000\nsocket.timeout.ms = 3000\n" + more;
    const Ran ran = shop.run({"init"});
    ASSERT_EQ(ran.code, EX_OK) << ran.text;
  }

  // A life in which every partition is born and every document is requested and released once, as sequence 1.
  void live(int documents) {
    documents_ = documents;
    start();
    process_documents(1);
    stop();
    changelog = insist([&] { return read_changelog(shop.connection(), shop.topic("changelog")); });
    ASSERT_EQ(changelog.size(), static_cast<std::size_t>(partitions_));
    for (const auto& [partition, log] : changelog) ASSERT_GE(metas_of(log), 3U) << "too few documents: " << partition;
  }

  // Requests, waits for the work, sends the results, waits for the outputs.
  void process_documents(int sequence) {
    const std::string seq = std::to_string(sequence);
    const std::size_t before = released_;
    released_ += static_cast<std::size_t>(documents_);
    send_all("requests", {{"reseq-seq", seq}}, seq);
    wait_for_records("work", before + static_cast<std::size_t>(documents_));
    send_all("commands", {{"reseq-command", "sequence"}, {"reseq-seq", seq}}, seq);
    wait_for_records("output.search", released_);
  }

  void send_all(const std::string& role, const std::vector<Header>& headers, const std::string& payload) {
    const auto producer = kafka::PlainProducer::open(shop.connection());
    ASSERT_TRUE(producer.ok());
    for (int i = 0; i < documents_; ++i)
      ASSERT_TRUE(producer.value()->send(shop.topic(role), id(i), payload, headers).ok());
    ASSERT_TRUE(producer.value()->flush(Milliseconds(kLimitMs)).ok());
  }

  std::size_t count(const std::string& role) {
    return insist([&] {
      std::size_t records = 0;
      read_all(shop.connection(), shop.topic(role), [&](const kafka::PlainRecord&) { ++records; });
      return records;
    });
  }
  // Each look reads the whole topic: not too often.
  template <typename Condition>
  static bool wait_with_pauses(const Condition& condition) {
    return wait_until(kWait, [&] {
      std::this_thread::sleep_for(std::chrono::milliseconds(200));
      return condition();
    });
  }
  void wait_for_records(const std::string& role, std::size_t records) {
    std::size_t found = 0;
    const bool enough = wait_with_pauses([&] {
      found = count(role);
      return found >= records || !process->running();
    });
    ASSERT_TRUE(enough && process->running()) << role << " has " << found << " records\n" << process->tail();
    EXPECT_EQ(found, records);
  }

  void start() {
    mark_ = shop.log().size();
    process = shop.start();
  }
  void stop() {
    process->signal(SIGTERM);
    EXPECT_EQ(process->wait(kLimitMs), EX_OK) << process->tail();
  }

  // Lines about the partition since the last start().
  [[nodiscard]] std::vector<std::string> lines(int partition) const {
    const std::string log = shop.log();
    std::vector<std::string> found;
    for (std::size_t at = mark_; at < log.size();) {
      const std::size_t end = std::min(log.find('\n', at), log.size());
      std::string line = log.substr(at, end - at);
      if (line.find(" partition=" + std::to_string(partition) + " ") != std::string::npos)
        found.push_back(std::move(line));
      at = end + 1;
    }
    return found;
  }
  [[nodiscard]] bool says(int partition, const std::string& text) const {
    for (const std::string& line : lines(partition))
      if (line.find(text) != std::string::npos) return true;
    return false;
  }
  void expect_says(int partition, const std::string& text) {
    EXPECT_TRUE(wait_until(kWait, [&] { return says(partition, text) || !process->running(); }) &&
                says(partition, text))
        << "partition " << partition << " does not say " << text << ", but:\n"
        << testing::PrintToString(lines(partition));
  }

  [[nodiscard]] static std::string id(int document) { return "document-" + std::to_string(document); }
  // Where this host keeps the copy of a partition.
  [[nodiscard]] std::string copy_of(int partition) const {
    return shop.state_dir + "/" + shop.application_id() + "/1/" + std::to_string(partition);
  }

  Operator shop{Broker::shared().bootstrap_servers()};
  std::unique_ptr<Process> process;
  std::map<int, Log> changelog;  // as it was at the end of live()
  int partitions_ = 0;
  int documents_ = 0;

 private:
  std::size_t mark_ = 0;
  std::size_t released_ = 0;  // by process_documents()
};

}  // namespace reseq::test
