// What a contestant may do wrong, written by hand into the topics of an application.
#include "tests/bench/output_check.h"

#include <array>
#include <gmock/gmock.h>

#include "kafka/plain_producer.h"
#include "tests/support/broker.h"
#include "tests/support/good.h"
#include "tests/support/process.h"

namespace reseq::bench {
namespace {

using testing::HasSubstr;

class OutputCheck : public testing::Test {
 protected:
  void write(const std::string& role, const Request& request, const std::string& payload,
             const std::string& version = "1") {
    const std::string sequence = std::to_string(request.sequence);
    const std::array headers = {Header{"reseq-seq", sequence}, Header{"reseq-version", version}};
    auto producer = test::good(kafka::PlainProducer::open(site_.connection()));
    (void)test::good(producer->send(application_.topic(role), id_of(request.document), payload, headers));
    (void)test::good(producer->flush(Milliseconds(30'000)));
  }
  void write(const std::string& role, const Request& request) { write(role, request, payload_of(request)); }

  void attempt(std::uint64_t document, const std::string& attempt) {
    const std::array headers = {Header{"reseq-seq", "1"}, Header{"reseq-attempt", attempt}};
    auto producer = test::good(kafka::PlainProducer::open(site_.connection()));
    (void)test::good(producer->send(application_.topic("work"), id_of(document), payload_of({document, 1}), headers));
    (void)test::good(producer->flush(Milliseconds(30'000)));
  }
  std::string attempts() {
    return trouble([&] { check_attempts(application_, requests_, {.every = 2}); });
  }

  void let_through(std::uint64_t document, const std::string& priority) {
    const std::array headers = {Header{"reseq-priority", priority}};
    auto producer = test::good(kafka::PlainProducer::open(site_.connection()));
    (void)test::good(producer->send(application_.topic("work"), id_of(document), "", headers, {}, Partition(0)));
    (void)test::good(producer->flush(Milliseconds(30'000)));
  }

  // What is wrong; empty: nothing.
  std::string work(Completeness completeness = Completeness::kEveryRequest) {
    return trouble([&] { check_work(application_, requests_, completeness); });
  }
  std::string classes(std::int64_t since) {
    return trouble([&] { check_classes(application_, {{application_.topic("work"), Partition(0), Offset(since)}}); });
  }
  std::string outputs() {
    return trouble([&] { check_outputs(application_, requests_); });
  }

  test::TempDir folder_;
  Site site_{.bootstrap_servers = test::Broker::shared().bootstrap_servers(), .folder = folder_.path(), .streams = ""};
  Application application_{site_, "checked", Mode::kLife};
  Requests requests_{{.documents = 2}};

 private:
  template <typename Check>
  static std::string trouble(const Check& check) {
    try {
      check();
      return "";
    } catch (const std::exception& error) {
      return error.what();
    }
  }
};

TEST_F(OutputCheck, FindsAMissingRecord) {
  write("work", {0, 1});
  EXPECT_THAT(work(), HasSubstr("doc-1 ends with 0 instead of 1"));
  write("work", {1, 1});
  EXPECT_EQ(work(), "");
}

TEST_F(OutputCheck, FindsARecordThatCameTwice) {
  for (const Request request : {Request{0, 1}, Request{1, 1}, Request{1, 1}}) write("work", request);
  EXPECT_THAT(work(), HasSubstr("doc-1 1 behind 1"));
}

TEST_F(OutputCheck, FindsAnotherPayload) {
  write("work", {0, 1}, "something else");
  EXPECT_THAT(work(), HasSubstr("doc-0 has another payload"));
}

TEST_F(OutputCheck, MissesEarlierRequestsOnlyWhereTheyMayBeSuperseded) {
  requests_ = Requests({.documents = 1, .updates = 1});
  write("work", {0, 2});
  EXPECT_EQ(work(Completeness::kLastOfEach), "");
  EXPECT_THAT(work(), HasSubstr("1 records instead of 2"));
}

// Document 0 fails once, document 1 does not.
TEST_F(OutputCheck, WantsEachAttemptOnceAndInItsOrder) {
  for (const std::uint64_t document : {0U, 1U}) write("work", {document, 1});
  EXPECT_THAT(attempts(), HasSubstr("doc-0: 1 records instead of 2"));
  attempt(0, "2");
  EXPECT_EQ(attempts(), "");
  attempt(1, "2");
  EXPECT_THAT(attempts(), HasSubstr("doc-1: 2 records instead of 1"));
  attempt(0, "2");
  EXPECT_THAT(attempts(), HasSubstr("doc-0 has attempt 2 instead of 3"));
}

TEST_F(OutputCheck, CountsDocumentsThatEndOld) {
  requests_ = Requests({.documents = 2, .again_after = 1});
  for (const Request request : {Request{0, 1}, Request{0, 2}, Request{1, 2}}) write("output.search", request);
  EXPECT_EQ(documents_that_end_old(application_, requests_), 0U);
  write("output.search", {1, 1});
  EXPECT_EQ(documents_that_end_old(application_, requests_), 1U);
}

TEST_F(OutputCheck, FindsAnUrgentOneBehindOneThatIsNot) {
  let_through(0, "150");
  let_through(1, "50");
  let_through(2, "100");
  EXPECT_THAT(classes(0), HasSubstr("priority 50 behind 150"));
  EXPECT_THAT(classes(1), HasSubstr("classes: 2 records instead of 3"));
  let_through(3, "150");
  EXPECT_EQ(classes(1), "");
}

TEST_F(OutputCheck, WantsOneResultWithAVersionInBothOutputs) {
  for (const Request request : {Request{0, 1}, Request{1, 1}}) write("output.search", request);
  write("output.catalogue", {0, 1});
  EXPECT_THAT(outputs(), HasSubstr("output.catalogue: doc-1 ends with 0 instead of 1"));
  write("output.catalogue", {1, 1}, payload_of({1, 1}), "0");
  EXPECT_THAT(outputs(), HasSubstr("has version 0"));
}

}  // namespace
}  // namespace reseq::bench
