// The program reseq-produce from the outside: exit codes, one-line errors, files it leaves.
#include <algorithm>
#include <fstream>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "git_fixture.h"

namespace reseq::test {
namespace {

using testing::HasSubstr;

constexpr int kLimitMs = 60000;

class ReseqProduce : public testing::Test {
 protected:
  int run(std::vector<std::string> arguments) {
    std::ofstream(path("log"), std::ios::trunc);
    arguments.insert(arguments.begin(), program("reseq-produce"));
    Process process(arguments, path("log"));
    const int code = process.wait(kLimitMs);
    log_ = process.tail();
    return code;
  }
  [[nodiscard]] std::string path(const std::string& name) const { return folder_.path() + "/" + name; }
  void write(const std::string& name, const std::string& text) const { std::ofstream(path(name)) << text; }
  [[nodiscard]] std::string read(const std::string& name) const {
    std::ifstream file(path(name));
    return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  }

  TempDir folder_;
  std::string log_;
};

TEST_F(ReseqProduce, ExplainsItself) {
  EXPECT_EQ(run({"--help"}), 0);
  EXPECT_THAT(log_, HasSubstr("--bootstrap-servers"));
}

TEST_F(ReseqProduce, RefusesWrongUsageInOneLine) {
  for (const std::vector<std::string>& arguments :
       std::vector<std::vector<std::string>>{{},
                                             {"git"},
                                             {"git", "--topic", "t"},
                                             {"load", "--dry-run", "--payload-bytes", "9-"},
                                             {"load", "--what"},
                                             {"load", "--dry-run", "--priority", "256"},
                                             {"load", "--dry-run", "--priority", "-1"},
                                             {"load", "--dry-run", "--priority", "high"},
                                             {"load", "--dry-run", "--process-at", "tomorrow"},
                                             {"load", "--dry-run", "--expires-at", "2024-05-01"},
                                             {"load", "--dry-run", "--property", "x"},
                                             {"git", "--dry-run", "--sequence-kind", "lsn"}}) {
    EXPECT_EQ(run(arguments), 64) << log_;
    EXPECT_EQ(std::count(log_.begin(), log_.end(), '\n'), 1) << log_;
  }
}

TEST_F(ReseqProduce, SaysThatThereIsNoRepository) {
  EXPECT_EQ(run({"git", "--dry-run", "--repo", folder_.path()}), 66);
  EXPECT_THAT(log_, HasSubstr("not a git repository"));
  EXPECT_EQ(std::count(log_.begin(), log_.end(), '\n'), 1) << log_;
}

TEST_F(ReseqProduce, CountsTheRequestsOfAHistory) {
  GitFixture fixture;
  const auto repository = fixture.make(History().commit().file("a", "1").gitlink("m").commit().remove("a"));
  EXPECT_EQ(run({"git", "--dry-run", "--repo", repository.string(), "--progress-file", path("progress")}), 0);
  EXPECT_THAT(log_, HasSubstr("2 records would be sent, 0 skipped, 1 submodule changes"));
  EXPECT_THAT(read("progress"), HasSubstr("{\"sent\":2,\"skipped\":0,\"total\":2,"));
  EXPECT_THAT(read("progress"), HasSubstr("\"done\":true}\n"));
}

TEST_F(ReseqProduce, StopsAtABadLineOrSkipsIt) {
  write("lines", "{\"id\":\"a\",\"seq\":1,\"payload\":1}\n{}\n");
  EXPECT_EQ(run({"ndjson", "--dry-run", path("lines")}), 65);
  EXPECT_THAT(log_, HasSubstr("line 2: needs one of 'id'"));
  EXPECT_EQ(run({"ndjson", "--dry-run", "--on-error", "skip", path("lines")}), 0);
  EXPECT_THAT(log_, HasSubstr("1 records would be sent, 1 skipped"));
}

TEST_F(ReseqProduce, TakesWhenTheTurnOfEveryRequestIs) {
  EXPECT_EQ(run({"load", "--dry-run", "--documents", "3", "--priority", "0", "--process-at", "1714557600000",
                 "--expires-at", "2024-05-01T12:00:00Z"}),
            0)
      << log_;
  write("lines", "{\"id\":\"a\",\"seq\":1,\"op\":\"delete\",\"expires_at\":1}\n");
  EXPECT_EQ(run({"ndjson", "--dry-run", path("lines")}), 65);
  EXPECT_THAT(log_, HasSubstr("a delete does not expire"));
}

TEST_F(ReseqProduce, WritesTheOracleOfALoad) {
  EXPECT_EQ(run({"load", "--dry-run", "--documents", "10", "--oracle", path("oracle")}), 0);
  const std::string oracle = read("oracle");
  EXPECT_EQ(std::count(oracle.begin(), oracle.end(), '\n'), 10);
  EXPECT_THAT(oracle, HasSubstr("{\"id\":\"doc-9\",\"seq\":\""));
}

TEST_F(ReseqProduce, FailsWhenAFileCannotBeWritten) {
  EXPECT_EQ(run({"load", "--dry-run", "--progress-file", path("absent/progress")}), 73);
}

}  // namespace
}  // namespace reseq::test
