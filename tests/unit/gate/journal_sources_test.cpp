// Where the document of what waited is from, as events say it when that ends.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "journal_by_places.h"

namespace reseq::runtime::troubled {
namespace {

using testing::ElementsAre;

class JournalSources : public JournalByPlaces {
 protected:
  explicit JournalSources(std::int64_t held_bytes_max = 1'000'000) : JournalByPlaces(held_bytes_max) { begin(); }
  // In two seconds, but nobody wants it for longer than so many.
  void request_later(const std::string& id, const std::string& sequence, const std::string& source,
                     std::int64_t wanted_ms = 60'000) {
    const auto in = [&](std::int64_t ms) { return std::to_string(clock.now().value() + ms); };
    append("requests", id,
           {{"reseq-seq", sequence},
            {"reseq-source", source},
            {"reseq-process-at", in(2'000)},
            {"reseq-expires-at", in(wanted_ms)}},
           id + sequence);
    run(500);
  }
  // Of what was dropped: reason, sequence and source.
  std::vector<std::string> dropped() {
    std::vector<std::string> all;
    for (const std::string& payload : committed("events")) {
      const auto event = nlohmann::json::parse(payload);
      if (event["outcome"] != "dropped") continue;
      all.push_back(event.value("reason", "-") + " " + event["order"].value("seq", "-") + " " +
                    event.value("document_source", "-"));
    }
    return all;
  }
};

TEST_F(JournalSources, AreToldOfWhatIsSupersededAndOfWhatExpiresWhileItWaits) {
  request_later("a", "1", "first crawl");
  request_later("a", "2", "second crawl");
  request_later("b", "3", "third crawl", 1'000);
  run(10'000);
  EXPECT_THAT(dropped(), ElementsAre("superseded 1 first crawl", "expired 3 third crawl"));
  EXPECT_THAT(committed("work"), ElementsAre("a2"));
}

class JournalSourcesByPlaces : public JournalSources {
 protected:
  JournalSourcesByPlaces() : JournalSources(0) {}
};

TEST_F(JournalSourcesByPlaces, AreNotReadAgainForAnEvent) {
  request_later("a", "1", "first crawl");
  request_later("a", "2", "second crawl");
  request_later("b", "3", "third crawl", 1'000);
  run(10'000);
  EXPECT_THAT(dropped(), ElementsAre("superseded 1 -", "expired 3 -"));
}

}  // namespace
}  // namespace reseq::runtime::troubled
