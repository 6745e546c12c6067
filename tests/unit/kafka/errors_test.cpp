#include "kafka/errors.h"

#include <gtest/gtest.h>

namespace reseq::kafka {
namespace {

constexpr auto kNotCoordinator = RD_KAFKA_RESP_ERR_NOT_COORDINATOR;

TEST(Triage, FatalComesBeforeEverythingElse) {
  EXPECT_EQ(triage({.code = kNotCoordinator, .fatal = true, .requires_abort = true, .retriable = true}),
            ErrorClass::kFatal);
}

TEST(Triage, AFatalFenceIsToldApart) {
  EXPECT_EQ(triage({.code = RD_KAFKA_RESP_ERR__FENCED, .fatal = true}), ErrorClass::kFenced);
  EXPECT_EQ(triage({.code = RD_KAFKA_RESP_ERR_PRODUCER_FENCED, .fatal = true}), ErrorClass::kFenced);
}

TEST(Triage, ASettingThatTheBrokerRefusesIsNotHelpedByANewClient) {
  EXPECT_EQ(triage({.code = RD_KAFKA_RESP_ERR_INVALID_TRANSACTION_TIMEOUT, .fatal = true}), ErrorClass::kInvalid);
}

TEST(Triage, AbortComesBeforeRetry) {
  EXPECT_EQ(triage({.code = kNotCoordinator, .requires_abort = true, .retriable = true}), ErrorClass::kAbort);
}

TEST(Triage, AStaleMembershipIsAnAbortNotAFence) {
  EXPECT_EQ(triage({.code = RD_KAFKA_RESP_ERR_FENCED_INSTANCE_ID, .requires_abort = true}), ErrorClass::kAbort);
  EXPECT_EQ(triage({.code = RD_KAFKA_RESP_ERR_ILLEGAL_GENERATION, .requires_abort = true}), ErrorClass::kAbort);
}

TEST(Triage, RetriableMayBeRepeatedAndATimeoutSaysNothing) {
  EXPECT_EQ(triage({.code = kNotCoordinator, .retriable = true}), ErrorClass::kRetriable);
  EXPECT_EQ(triage({.code = RD_KAFKA_RESP_ERR__TIMED_OUT, .retriable = true}), ErrorClass::kTimeout);
}

TEST(Triage, WhatAnswersNoQuestionIsFatal) {
  EXPECT_EQ(triage({.code = kNotCoordinator}), ErrorClass::kFatal);
  EXPECT_EQ(triage({.code = RD_KAFKA_RESP_ERR__STATE}), ErrorClass::kFatal);
}

TEST(Triage, OfBareCodesKnowsTransientWrongAndUnknownOnes) {
  EXPECT_EQ(triage(RD_KAFKA_RESP_ERR__TRANSPORT), ErrorClass::kRetriable);
  EXPECT_EQ(triage(RD_KAFKA_RESP_ERR_COORDINATOR_LOAD_IN_PROGRESS), ErrorClass::kRetriable);
  EXPECT_EQ(triage(RD_KAFKA_RESP_ERR__TIMED_OUT), ErrorClass::kTimeout);
  EXPECT_EQ(triage(RD_KAFKA_RESP_ERR_UNSTABLE_OFFSET_COMMIT), ErrorClass::kTimeout);
  EXPECT_EQ(triage(RD_KAFKA_RESP_ERR_ILLEGAL_GENERATION), ErrorClass::kAbort);
  EXPECT_EQ(triage(RD_KAFKA_RESP_ERR_FENCED_INSTANCE_ID), ErrorClass::kFenced);
  EXPECT_EQ(triage(RD_KAFKA_RESP_ERR_OFFSET_OUT_OF_RANGE), ErrorClass::kInvalid);
  EXPECT_EQ(triage(RD_KAFKA_RESP_ERR__AUTO_OFFSET_RESET), ErrorClass::kInvalid);
  EXPECT_EQ(triage(RD_KAFKA_RESP_ERR_TOPIC_AUTHORIZATION_FAILED), ErrorClass::kInvalid);
  EXPECT_EQ(triage(RD_KAFKA_RESP_ERR__FATAL), ErrorClass::kFatal);
  EXPECT_EQ(triage(RD_KAFKA_RESP_ERR_UNKNOWN), ErrorClass::kRetriable);
  EXPECT_EQ(triage(RD_KAFKA_RESP_ERR_INVALID_COMMIT_OFFSET_SIZE), ErrorClass::kFatal);
}

TEST(Triage, NamesWhatWasAttemptedAndWhy) {
  const Error error = error_of(RD_KAFKA_RESP_ERR_NOT_COORDINATOR, "commit");
  EXPECT_EQ(error.code, RD_KAFKA_RESP_ERR_NOT_COORDINATOR);
  EXPECT_EQ(error.message.find("commit: "), 0U);
  EXPECT_NE(error.message.find("NOT_COORDINATOR"), std::string::npos);
}

}  // namespace
}  // namespace reseq::kafka
