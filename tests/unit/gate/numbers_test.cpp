// The table of the numbers of gates: its check sees every number that is given out twice.
#include <gtest/gtest.h>
#include <vector>

#include "engine/gate_numbers.h"

namespace reseq::gate {
namespace {

using engine::GateNumbers;

bool are_fine(const GateNumbers& second) {
  const std::vector<GateNumbers> gates = {{"first", 1, 2, {3, 4}, {5, 6}}, second};
  return engine::are_given_out_once(gates);
}

TEST(GateNumbers, AreGivenOutOnce) {
  EXPECT_TRUE(are_fine({"second", 10, 11, {12, 13}, {14, 15}}));
  EXPECT_TRUE(are_fine({"second", 2, 3, {5, 6}, {1, 4}})) << "numbers of different sorts do not meet";
  EXPECT_TRUE(are_fine({"second", 255, 63, {0, 255}, {0, 127}})) << "the lowest and the highest";
  EXPECT_TRUE(are_fine({"second", 0, 0, {}, {}}));
  EXPECT_FALSE(are_fine({"second", 1, 11, {12, 13}, {14, 15}})) << "gate";
  EXPECT_FALSE(are_fine({"second", 10, 2, {12, 13}, {14, 15}})) << "capability";
  EXPECT_FALSE(are_fine({"second", 10, 11, {12, 3}, {14, 15}})) << "kind";
  EXPECT_FALSE(are_fine({"second", 10, 11, {4, 13}, {14, 15}})) << "kind";
  EXPECT_FALSE(are_fine({"second", 10, 11, {12, 13}, {14, 5}})) << "index";
  EXPECT_FALSE(are_fine({"second", 10, 11, {12, 13}, {6, 15}})) << "index";
  EXPECT_FALSE(are_fine({"second", 10, 11, {12, 12}, {14, 15}})) << "a kind of its own";
  EXPECT_FALSE(are_fine({"second", 10, 11, {12, 13}, {14, 14}})) << "an index of its own";
  EXPECT_FALSE(are_fine({"second", 10, 64, {12, 13}, {14, 15}})) << "a bit that a meta row does not have";
  EXPECT_FALSE(are_fine({"second", 10, 11, {12, 13}, {14, 128}})) << "an index that is none";
}

}  // namespace
}  // namespace reseq::gate
