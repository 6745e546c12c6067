// The kinds of sequences: how each is written and compared.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/shop/shop.h"

namespace reseq::test {
namespace {

using testing::ElementsAre;
using testing::ElementsAreArray;
using testing::IsEmpty;

struct Kind {
  std::string name;
  // Rising, each written as a producer may write it, with another way to write the last one.
  std::vector<std::string> rising;
  std::string last_again;
  std::string foreign;
};

void PrintTo(const Kind& kind, std::ostream* out) {
  *out << kind.name;
}

class Sequences : public testing::TestWithParam<Kind> {};

TEST_P(Sequences, AreComparedAsTheirKindSays) {
  const Kind& kind = GetParam();
  Shop shop("sequence_kind = \"" + kind.name + "\"\nevents = \"all\"\n[[target]]\nname = \"search\"\n");
  shop.start();
  const auto request = [&](const std::string& id, const std::string& seq) {
    shop.send("requests", id, "request", {{"reseq-seq", seq}});
  };
  const auto result = [&](const std::string& id, const std::string& seq) {
    shop.send("commands", id, "result " + seq,
              {{"reseq-seq", seq}, {"reseq-command", "sequence"}, {"reseq-target", "search"}});
  };
  // Each step: the newer one is forwarded, the older one no longer; the result of the older one is stopped.
  std::vector<std::string> forwarded;
  for (std::size_t i = 1; i < kind.rising.size(); ++i) {
    const std::string id = "step-" + std::to_string(i);
    request(id, kind.rising[i]);
    shop.settle();
    request(id, kind.rising[i - 1]);
    result(id, kind.rising[i - 1]);
    forwarded.push_back(id + " " + kind.rising[i] + " -> search");
  }
  shop.settle();
  EXPECT_THAT(shop.work(), ElementsAreArray(forwarded));
  EXPECT_EQ(shop.records("output.search").size(), 0U);

  // A result may write its sequence in another way; the header comes out as the result said it.
  const std::string last = "step-" + std::to_string(kind.rising.size() - 1);
  result(last, kind.last_again);
  request("foreign", kind.foreign);
  shop.settle();
  EXPECT_THAT(shop.released("search"), ElementsAre(last + " " + kind.last_again));
  EXPECT_EQ(shop.records("output.search").front().payload, "result " + kind.last_again);
  EXPECT_THAT(shop.dead_letters(), ElementsAre("foreign " + kind.foreign + " malformed_sequence"));
}

INSTANTIATE_TEST_SUITE_P(
    Kind, Sequences,
    testing::Values(
        Kind{"u64", {"0", "9", "10", "99", "18446744073709551615"}, "18446744073709551615", "1a"},
        Kind{"timestamp",
             {"1969-12-31T23:59:59.999Z", "0", "2024-05-01T12:00:00+02:00", "2024-05-01T10:00:00.000000001Z",
              "1714557600000000002", "2024-05-01T05:00:01-05:00"},
             "1714557601000000000",
             "2024-05-01T12:00:00"},
        Kind{"lsn", {"0/9", "0/A", "0/FFFFFFFF", "1/0", "9/0", "A/0", "16/B374D848"}, "16/b374d848", "16-B374D848"},
        Kind{"text", {"10", "9", "A", "Z", "a", "a0", "b", "\xC3\xA9"}, "\xC3\xA9", std::string(33, 'x')}),
    [](const auto& kind) { return kind.param.name; });

}  // namespace
}  // namespace reseq::test
