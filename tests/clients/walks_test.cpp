// The pages that are walks, as a reader goes through them: their commands in their order, in a fresh folder, with a
// Kafka, and where the page wants it an OpenSearch, of its own.
#include <algorithm>
#include <cctype>
#include <filesystem>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <map>

#include "tests/clients/application.h"
#include "tests/clients/fences.h"
#include "tests/support/source_path.h"

namespace reseq::test {
namespace {

struct Walk {
  const char* page;
  const char* name;  // of the folder of the reader, below /tmp
  int shown_min;     // outputs that the page shows
};

constexpr Walk kTutorial{"docs/tutorial.md", "tutorial", 8};
constexpr Walk kStuck{"docs/stuck.md", "stuck", 8};
constexpr Walk kOwnIndex{"docs/own-index.md", "own-index", 6};
constexpr Walk kJournal{"docs/journal.md", "journal", 4};
constexpr Walk kFailures{"docs/failures.md", "failures", 6};
constexpr const char* kMark = "== fence ";
constexpr const char* kLimitSeconds = "220";

// Runs of digits as one N, runs of blanks as one, because columns are as wide as what stands in them: an output that
// has to look alike, but not to be equal.
std::string without_numbers(const std::string& line) {
  std::string text;
  for (const char c : line) {
    const bool digit = std::isdigit(static_cast<unsigned char>(c)) != 0;
    if (digit && text.ends_with('N')) continue;
    if (c == ' ' && text.ends_with(' ')) continue;
    text += digit ? 'N' : c;
  }
  return text;
}

std::vector<std::string> trimmed_lines(const std::string& text, bool numbers_vary) {
  std::vector<std::string> lines;
  for (const std::string& line : lines_of(text)) {
    const std::size_t begin = line.find_first_not_of(' ');
    if (begin == std::string::npos) continue;
    lines.push_back(numbers_vary ? without_numbers(line.substr(begin)) : line.substr(begin));
  }
  return lines;
}

// Each line that the page shows must be among those printed, in that order; what programs log in between is not shown,
// and where a reader would miss something the page says `...`.
void expect_shown(const Walk& walk, const Fence& shown, const std::string& printed) {
  const bool numbers_vary = shown.label == "text varies";
  const auto lines = trimmed_lines(printed, numbers_vary);
  auto at = lines.begin();
  for (const std::string& line : trimmed_lines(shown.text, numbers_vary)) {
    if (line == "...") continue;
    at = std::find(at, lines.end(), line);
    ASSERT_NE(at, lines.end()) << walk.page << ":" << shown.line << ": not printed: " << line << "\nbut:\n" << printed;
    ++at;
  }
}

// The clone of a reader who has built the programs.
void make_clone(const std::string& folder) {
  const std::filesystem::path clone(folder);
  std::filesystem::create_directories(clone / "build/quickstart");
  std::filesystem::create_directory_symlink(std::filesystem::path(program("resequencer")).parent_path(),
                                            clone / "build/quickstart/bin");
  for (const char* part : {"clients", "docs", "script"})
    std::filesystem::create_directory_symlink(source_path(part), clone / part);
}

std::string script_of(const Walk& walk, const std::vector<Fence>& fences, const std::string& clone) {
  const std::string folder = "/tmp/" + std::string(walk.name);
  // The port of a reader's machine may be taken here, by a test that runs meanwhile.
  std::string script = "set -eu\ncd " + clone + "\nexport PATH=/usr/bin:$PATH RESEQ_HTTP_LISTEN=127.0.0.1:0\n" +
                       "trap 'kill $(jobs -p) 2>/dev/null || true; for server in kafka opensearch; do " +
                       source_path("script") + "/$server wipe --dir " + folder + "/$server; done' EXIT\n";
  for (const Fence& fence : fences)
    if (fence.label == "sh") script += "echo '" + (kMark + std::to_string(fence.line)) + "'\n" + fence.text;
  return replaced(script, folder, clone + "/" + walk.name);
}

// What was printed between the mark of the fence and the next one.
std::string output_of(const Fence& fence, const std::string& all) {
  const std::string mark = kMark + std::to_string(fence.line) + "\n";
  const std::size_t begin = all.find(mark);
  if (begin == std::string::npos) return "";
  const std::size_t end = all.find(kMark, begin + mark.size());
  return all.substr(begin + mark.size(), end == std::string::npos ? end : end - begin - mark.size());
}

// Everything that the commands of the page print, which is compared with what it shows.
Transcript go_through(const Walk& walk) {
  const TempDir clone;
  make_clone(clone.path());
  const std::vector<Fence> fences = fences_of(source_file(walk.page));
  const Transcript run =
      run_program({"timeout", "-k", "20", kLimitSeconds, "bash", "-c", script_of(walk, fences, clone.path())});
  const std::string all = run.text();
  EXPECT_EQ(run.exit_code, 0) << all;
  int shown = 0;
  for (std::size_t i = 1; i < fences.size(); ++i) {
    if (!fences[i].label.starts_with("text")) continue;
    ++shown;
    EXPECT_EQ(fences[i - 1].label, "sh") << walk.page << ":" << fences[i].line;
    expect_shown(walk, fences[i], output_of(fences[i - 1], all));
  }
  EXPECT_GE(shown, walk.shown_min);
  EXPECT_FALSE(std::filesystem::exists(clone.path() + "/" + walk.name)) << "it cleans up";
  return run;
}

TEST(Stuck, PrintsWhatItShows) {
  (void)go_through(kStuck);
}

TEST(JournalPage, PrintsWhatItShows) {
  (void)go_through(kJournal);
}

TEST(FailuresPage, PrintsWhatItShows) {
  (void)go_through(kFailures);
}

TEST(Tutorial, PrintsWhatItShows) {
  const Transcript run = go_through(kTutorial);

  // Wrong before, right ever after: numbers may vary, this may not.
  std::vector<std::string> catalogues;
  for (const std::string& line : run.lines)
    if (line.starts_with("catalogue: ")) catalogues.push_back(line);
  ASSERT_EQ(catalogues.size(), 4U);
  EXPECT_NE(catalogues[0], "catalogue: 100 orders right, 0 wrong");
  for (std::size_t i = 1; i < catalogues.size(); ++i) EXPECT_EQ(catalogues[i], "catalogue: 100 orders right, 0 wrong");
}

// By the label of their fences.
void expect_shows_files(const Walk& walk, const std::map<std::string, std::string>& source_of) {
  std::size_t files = 0;
  for (const Fence& fence : fences_of(source_file(walk.page))) {
    const auto source = source_of.find(fence.label);
    if (source == source_of.end()) continue;
    EXPECT_EQ(fence.text, source_file(source->second));
    ++files;
  }
  EXPECT_EQ(files, source_of.size());
}

TEST(Tutorial, ShowsTheFilesThatItRuns) {
  expect_shows_files(
      kTutorial, {{"toml", "docs/examples/tutorial/orders.toml"}, {"diff", "docs/examples/tutorial/ordered.patch"}});
}

TEST(FailuresPage, ShowsTheFilesThatItRuns) {
  expect_shows_files(kFailures, {{"bash", "docs/examples/failures/worker.sh"},
                                 {"python", "docs/examples/failures/worker.py"},
                                 {"cpp", "docs/examples/failures/worker.h"}});
}

TEST(OwnIndex, ShowsTheFilesThatItRuns) {
  expect_shows_files(kOwnIndex,
                     {{"toml", "docs/examples/own-index/shop.toml"}, {"python", "docs/examples/own-index/shop.py"}});
}

// The page asks the index before and after the late results come: the same line, or the test fails.
TEST(OwnIndex, HoldsTheNewestAndNothingDeletedAsItShows) {
  const Transcript run = go_through(kOwnIndex);
  std::vector<std::string> answers;
  for (const std::string& line : run.lines)
    if (line.starts_with(R"({"hits":)")) answers.push_back(line);
  ASSERT_EQ(answers.size(), 3U);
  EXPECT_THAT(answers[0], testing::HasSubstr("hat"));
  EXPECT_EQ(answers[1], R"({"hits":{"hits":[{"_id":"coat","_source":{"price":80,"gross":95.2}}]}})");
  EXPECT_EQ(answers[2], answers[1]) << "after the late results";
}

}  // namespace
}  // namespace reseq::test
