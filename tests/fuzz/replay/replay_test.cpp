// The corpus of the fuzzers, played through their targets by every build: an input that once broke something never does
// again. The seeds among it are written by seeds_of(); RESEQ_WRITE_SEEDS=1 writes them anew.
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <iterator>
#include <utility>

#include "seeds.h"
#include "tests/fuzz/fuzzed_record.h"
#include "tests/fuzz/targets.h"
#include "tests/support/source_path.h"

namespace reseq::fuzz {
namespace {

namespace fs = std::filesystem;

fs::path corpus_of(const Target& target) {
  return fs::path(test::source_path("tests/fuzz/corpus")) / target.name;
}

std::string content_of(const fs::path& file) {
  std::ifstream stream(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(stream), std::istreambuf_iterator<char>()};
}

TEST(Replay, TheCorpusHoldsTheSeeds) {
  const bool write = std::getenv("RESEQ_WRITE_SEEDS") != nullptr;
  for (const Target& target : kTargets) {
    const std::vector<Seed> seeds = seeds_of(target.name);
    EXPECT_GE(seeds.size(), 3U) << target.name;
    for (const Seed& seed : seeds) {
      const fs::path file = corpus_of(target) / ("seed-" + seed.name);
      if (write) {
        fs::create_directories(file.parent_path());
        std::ofstream(file, std::ios::binary) << seed.input;
      }
      EXPECT_TRUE(fs::exists(file)) << file << ": run this test with RESEQ_WRITE_SEEDS=1";
    }
  }
}

// A seed that reads as another record than was written would be noise.
TEST(Replay, SeedsOfRecordsReadAsTheyWereWritten) {
  const auto read = [](const std::string& seed) {
    Pieces pieces(seed);
    const FuzzedRecord fuzzed = read_record(pieces);
    EXPECT_TRUE(pieces.rest().empty());
    codec::InputRecord record = fuzzed.record.view();
    const Command command = codec::decode(record, fuzzed.context);
    const auto* request = std::get_if<Request>(&command);
    return std::pair(command.index(), request != nullptr && request->wish != nullptr);
  };
  const auto kind = SequenceKind::kU64;
  const std::size_t request = Command(Request()).index();
  EXPECT_EQ(read(write_record(Role::kRequests, kind, {{"reseq-seq", "7"}})), std::pair(request, false));
  EXPECT_EQ(read(write_record(Role::kRequests, kind, {{"reseq-seq", "7"}, {"reseq-priority", "7"}}, true)),
            std::pair(request, true));
  EXPECT_EQ(read(write_record(Role::kCommands, kind, {{"reseq-command", "heartbeat"}, {"reseq-seq", "7"}})),
            std::pair(Command(Heartbeat()).index(), false));
}

TEST(Replay, EveryInputOfTheCorpusKeepsTheProperties) {
  for (const Target& target : kTargets) {
    for (const auto& entry : fs::directory_iterator(corpus_of(target))) {
      SCOPED_TRACE(entry.path().string());
      target.run(content_of(entry.path()));
    }
  }
}

TEST(Replay, EveryTargetTakesNothingAndBytesOfOneKind) {
  for (const Target& target : kTargets) {
    SCOPED_TRACE(target.name);
    target.run("");
    for (int byte = 0; byte < 256; ++byte)
      for (const std::size_t size : {1U, 9U, 300U}) target.run(std::string(size, static_cast<char>(byte)));
  }
}

}  // namespace
}  // namespace reseq::fuzz
