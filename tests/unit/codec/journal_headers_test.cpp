// What requests wish of a journal, what it writes on work, what commands say of it, and what becomes of it on outputs.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "codec/held_rows.h"
#include "row_generators.h"
#include "sample_record.h"

namespace reseq::codec {
namespace {

using testing::ElementsAre;
using testing::Pair;

constexpr const char* kWishes[] = {"reseq-priority", "reseq-process-at", "reseq-expires-at"};
constexpr const char* kOfDispatch[] = {"reseq-attempt", "reseq-lease-until"};

class JournalHeaders : public testing::Test {
 protected:
  Command read(const SampleRecord& sample) {
    view_ = sample.view();
    return decode(view_, context_);
  }
  Reason reason_of(const SampleRecord& sample) {
    const Command command = read(sample);
    const auto* refused = std::get_if<Refused>(&command);
    return refused != nullptr ? refused->reason : Reason::kNone;
  }
  // REQUIRES: it is a request.
  Wish wish_of(const SampleRecord& sample) {
    const Command command = read(sample);
    return *std::get<Request>(command).wish;
  }
  Reason reason_with(const char* name, std::optional<std::string> value) {
    return reason_of(SampleRecord::request().with(name, std::move(value)));
  }
  std::optional<UnixMs> process_at(const std::string& text) {
    return wish_of(SampleRecord::request().with("reseq-process-at", text)).process_at;
  }
  void without_journal() {
    context_.journal = false;
    context_.hash = nullptr;
  }

  static DecodeContext with_journal(Arena& arena, const KeyedHash& hash) {
    DecodeContext context = decode_context();
    context.arena = &arena;
    context.journal = true;
    context.hash = &hash;
    return context;
  }

  // Nobody reads requests again, but what they ask for is compared.
  void only_compares(const std::vector<std::string>& names) {
    context_.journal = false;
    context_.content_headers = &names;
  }

  const KeyedHash hash_{test_hash_key()};
  Arena arena_;
  DecodeContext context_ = with_journal(arena_, hash_);
  InputRecord view_;
};

TEST_F(JournalHeaders, WhatARequestAsksForIsKnownWhereItIsCompared) {
  EXPECT_EQ(wish_of(SampleRecord::request()).content, Digest()) << "nobody compares";
  const std::vector<std::string> names = {"tenant"};
  only_compares(names);
  const Wish wish = wish_of(SampleRecord::request().with("tenant", "a"));
  EXPECT_EQ(wish.content, content_hash(hash_, Op::kUpsert, "payload", std::vector<Header>{{"tenant", "a"}}, names));
  EXPECT_EQ(wish.place, RequestPlace()) << "nobody reads it again";
  EXPECT_NE(wish_of(SampleRecord::request().with("tenant", "b")).content, wish.content);
}

TEST_F(JournalHeaders, SayWhatARequestWishes) {
  const Wish wish = wish_of(SampleRecord::request()
                                .with("reseq-priority", "7")
                                .with("reseq-process-at", "1709164800000")
                                .with("reseq-expires-at", "2024-03-01T00:00:00.0019+01:00"));
  EXPECT_EQ(wish.priority, 7);
  EXPECT_EQ(wish.process_at, UnixMs(1'709'164'800'000));
  EXPECT_EQ(wish.expires_at, UnixMs(1'709'247'600'001));
}

TEST_F(JournalHeaders, MayAllBeAbsent) {
  const Wish wish = wish_of(SampleRecord::request());
  EXPECT_FALSE(wish.priority);
  EXPECT_FALSE(wish.process_at);
  EXPECT_FALSE(wish.expires_at);
}

TEST_F(JournalHeaders, TheWishSaysWhereTheRequestLies) {
  const SampleRecord sample = SampleRecord::request().with("reseq-priority", "7");
  const Command command = read(sample);
  const auto& request = std::get<Request>(command);
  EXPECT_EQ(request.wish->place,
            (RequestPlace{Offset(42), UnixMs(1'709'164'800'000), hash_.of_input("doc-1", "payload"),
                          held_bytes(sample.view()), request.work_bytes}));
}

// Who reads it again from its log finds the key that it has there, whatever the document is called.
TEST_F(JournalHeaders, TheWishSaysWhatTheRecordIsInItsLogWhereTheIdStandsInAHeader) {
  const InputPlaces places{Place{"doc"}, std::nullopt};
  context_.elsewhere = &places;
  const SampleRecord sample = SampleRecord::request().key("tenant").with("doc", "another name");
  const Command command = read(sample);
  const auto& request = std::get<Request>(command);
  EXPECT_EQ(request.what.id, "another name");
  EXPECT_EQ(view_.key, "another name");
  EXPECT_EQ(request.wish->place.hash, hash_.of_input("tenant", "payload"));
  EXPECT_EQ(request.wish->place.record_bytes, held_bytes(sample.view()));
  EXPECT_EQ(as_in_log(view_).key, "tenant");

  const SampleRecord without = SampleRecord::request().key(std::nullopt).with("doc", "another name");
  EXPECT_EQ(wish_of(without).place.hash, hash_.of_input(std::nullopt, "payload"));
  EXPECT_EQ(as_in_log(view_).key, std::nullopt);
}

TEST_F(JournalHeaders, AReferenceKnowsTheRecordByWhatItIsInItsLog) {
  const InputPlaces places{Place{"doc"}, std::nullopt};
  context_.elsewhere = &places;
  const SampleRecord sample = SampleRecord::request().key("tenant").with("doc", "another name");
  const Wish wish = wish_of(sample);
  const std::string key = held_key(7, "rank rank");
  Hold hold;
  hold.key = key;
  hold.reference = true;
  std::vector<KeyedChange> rows;
  append_held(hold, view_, hash_, arena_, rows);
  const auto held = std::get<HeldRow>(decode_held(key, rows.at(0).value.value()));
  EXPECT_EQ(held.hash, hash_.of_input("tenant", "payload"));
  EXPECT_EQ(held.hash, wish.place.hash);
  EXPECT_EQ(held.record_bytes, wish.place.record_bytes);
}

TEST_F(JournalHeaders, OfARequestThatNobodyReadsAgainNeedNoHash) {
  context_.hash = nullptr;
  EXPECT_EQ(wish_of(SampleRecord::request()).place.hash, 0U);
}

TEST_F(JournalHeaders, PrioritiesAreBytes) {
  const auto priority = [this](const char* text) {
    return wish_of(SampleRecord::request().with("reseq-priority", text)).priority;
  };
  EXPECT_EQ(priority("0"), 0);
  EXPECT_EQ(priority("255"), 255);
  EXPECT_EQ(priority("007"), 7);
  for (const char* text : {"256", "-1", "", " 1", "1 ", "high", "1.0", "99999999999999999999"})
    EXPECT_EQ(reason_with("reseq-priority", text), Reason::kMalformedHeader) << text;
}

TEST_F(JournalHeaders, DatesAreMillisecondsOrInstantsOfOneRange) {
  EXPECT_EQ(process_at("0"), UnixMs(0));
  EXPECT_EQ(process_at("9223372036854"), UnixMs(9'223'372'036'854));
  EXPECT_EQ(process_at("1970-01-01T00:00:00Z"), UnixMs(0));
  EXPECT_EQ(process_at("2262-04-11T23:47:16.854Z"), UnixMs(9'223'372'036'854));
  EXPECT_EQ(process_at("2024-02-29T12:00:00.123456789-05:30"), UnixMs(1'709'227'800'123));
  for (const char* name : {"reseq-process-at", "reseq-expires-at"})
    for (const char* text :
         {"-1", "9223372036855", "9223372036854775807", "18446744073709551616", "", "tomorrow", "1e3",
          "1969-12-31T23:59:59Z", "2262-04-12T00:00:00Z", "9999-01-01T00:00:00Z", "10000-01-01T00:00:00Z", "2024-02-29",
          "2024-02-29T12:00:00", "2023-02-29T12:00:00Z", " 1"})
      EXPECT_EQ(reason_with(name, text), Reason::kMalformedHeader) << name << ' ' << text;
}

// 0 would be a date long ago, and what many say who mean none.
TEST_F(JournalHeaders, NothingExpiresIn1970) {
  EXPECT_EQ(reason_with("reseq-expires-at", "0"), Reason::kMalformedHeader);
  EXPECT_EQ(reason_with("reseq-expires-at", "1970-01-01T00:00:00Z"), Reason::kMalformedHeader);
  EXPECT_EQ(reason_with("reseq-expires-at", "1"), Reason::kNone);
}

TEST_F(JournalHeaders, WithoutAValueAreMalformed) {
  for (const char* name : kWishes) EXPECT_EQ(reason_with(name, std::nullopt), Reason::kMalformedHeader) << name;
}

TEST_F(JournalHeaders, OfADoubledOneTheLastCounts) {
  EXPECT_EQ(wish_of(SampleRecord::request().with("reseq-priority", "x").with("reseq-priority", "3")).priority, 3);
}

TEST_F(JournalHeaders, ADeleteDoesNotExpire) {
  const auto expiring = [] { return SampleRecord::request().with("reseq-expires-at", "1709164800000"); };
  EXPECT_EQ(reason_of(expiring().payload(std::nullopt)), Reason::kUnsupportedHeader);
  EXPECT_EQ(reason_of(expiring().with("reseq-op", "delete")), Reason::kUnsupportedHeader);
  EXPECT_EQ(reason_of(SampleRecord::request()
                          .with("reseq-process-at", "1709164800000")
                          .with("reseq-priority", "0")
                          .payload(std::nullopt)),
            Reason::kNone);
}

TEST_F(JournalHeaders, OfADispatchAreNoRequests) {
  for (const char* name : kOfDispatch) {
    EXPECT_EQ(reason_with(name, "1"), Reason::kUnsupportedHeader) << name;
    without_journal();
    EXPECT_EQ(reason_with(name, "1"), Reason::kUnsupportedHeader) << name;
  }
}

TEST_F(JournalHeaders, WithoutAJournalNobodyCanWish) {
  without_journal();
  for (const char* name : kWishes) EXPECT_EQ(reason_with(name, "1"), Reason::kUnsupportedHeader) << name;
  const Command command = read(SampleRecord::request());
  EXPECT_EQ(std::get<Request>(command).wish, nullptr);
}

TEST_F(JournalHeaders, WhereSomethingStillWaitsARequestSaysWhereItLies) {
  context_.journal = false;
  context_.reads_again = true;
  for (const char* name : kWishes) EXPECT_EQ(reason_with(name, "1"), Reason::kUnsupportedHeader) << name;
  const Wish wish = wish_of(SampleRecord::request());
  EXPECT_EQ(wish.place.offset, Offset(42));
  EXPECT_FALSE(wish.priority);
}

TEST_F(JournalHeaders, AreKnownToWhoLeavesThemOut) {
  for (const char* name : kWishes) EXPECT_TRUE(is_of_journal(name)) << name;
  for (const char* name : kOfDispatch) EXPECT_TRUE(is_of_journal(name)) << name;
  for (const char* name : {"reseq-seq", "reseq-process", "reseq-root", "traceparent"})
    EXPECT_FALSE(is_of_journal(name)) << name;
}

TEST_F(JournalHeaders, AreRefusedOnWhatOperatorsSend) {
  for (const auto names : {std::span<const char* const>(kWishes), std::span<const char* const>(kOfDispatch)})
    for (const char* name : names) {
      EXPECT_EQ(reason_with("reseq-control", "reset"), Reason::kMalformedHeader);
      EXPECT_EQ(reason_of(SampleRecord::request().with("reseq-control", "reset").with(name, "1")),
                Reason::kUnsupportedHeader)
          << name;
      for (const char* operation : {"pause", "release", "expire"})
        EXPECT_EQ(reason_of(SampleRecord(Role::kControl).with("reseq-control", operation).with(name, "1")),
                  Reason::kUnsupportedHeader)
            << name;
    }
}

// Pipelines copy all headers of work.
TEST_F(JournalHeaders, ThatAPipelineCopiedAreNotReadOnCommands) {
  for (const char* command : {"register", "unregister", "sequence", "heartbeat"})
    for (const char* name : {"reseq-priority", "reseq-process-at", "reseq-expires-at", "reseq-lease-until"})
      for (const std::optional<std::string>& value : {std::optional<std::string>("x"), std::optional<std::string>()}) {
        EXPECT_EQ(reason_of(SampleRecord::command(command).with("reseq-target", "search").with(name, value)),
                  Reason::kNone)
            << command << ' ' << name;
      }
}

TEST_F(JournalHeaders, SayWhichAttemptAResultIsOf) {
  const auto attempt = [this](const SampleRecord& sample) {
    const Command command = read(sample);
    return std::get<SequenceResult>(command).attempt;
  };
  const auto result = [] { return SampleRecord::command("sequence").with("reseq-target", "search"); };
  EXPECT_EQ(attempt(result()), 0U);
  EXPECT_EQ(attempt(result().with("reseq-attempt", "1")), 1U);
  EXPECT_EQ(attempt(result().with("reseq-attempt", "4294967295")), UINT32_MAX);
  without_journal();
  EXPECT_EQ(attempt(result().with("reseq-attempt", "2")), 2U);
}

TEST_F(JournalHeaders, AnAttemptIsCountedFromOne) {
  for (const char* command : {"register", "unregister", "sequence", "heartbeat"}) {
    const auto with = [&](std::optional<std::string> value) {
      return reason_of(SampleRecord::command(command).with("reseq-target", "search").with("reseq-attempt", value));
    };
    EXPECT_EQ(with("1"), Reason::kNone) << command;
    for (const char* text : {"0", "4294967296", "-1", "", "first"})
      EXPECT_EQ(with(text), Reason::kMalformedHeader) << command << ' ' << text;
    EXPECT_EQ(with(std::nullopt), Reason::kMalformedHeader) << command;
  }
}

TEST_F(JournalHeaders, AFailureSaysWhatCouldNotBeDone) {
  context_.failures = true;
  const auto fail = [] { return SampleRecord::command("fail"); };
  const SampleRecord sample = fail()
                                  .with("reseq-epoch", "2")
                                  .with("reseq-attempt", "3")
                                  .with("reseq-target", "search")
                                  .with("reseq-failure", "permanent")
                                  .with("reseq-failure-scope", "universal")
                                  .with("reseq-effect", "none")
                                  .with("reseq-error", "not a PDF");
  const Command command = read(sample);
  const auto& failure = std::get<Fail>(command);
  EXPECT_EQ(failure.id, "doc-1");
  EXPECT_EQ(failure.epoch, Epoch(2));
  EXPECT_EQ(failure.sequence, kSeven);
  EXPECT_EQ(failure.attempt, 3U);
  EXPECT_FALSE(failure.everything);
  EXPECT_EQ(failure.kind, FailureKind::kPermanent);
  EXPECT_EQ(failure.scope, FailureScope::kUniversal);
  EXPECT_EQ(failure.error, "not a PDF");
  EXPECT_TRUE(failure.without_effect);
  const SampleRecord says_little = fail().with("reseq-target", "*");
  const Command short_one = read(says_little);
  EXPECT_TRUE(std::get<Fail>(short_one).everything);
  EXPECT_EQ(std::get<Fail>(short_one).attempt, 0U);
  EXPECT_EQ(std::get<Fail>(short_one).kind, FailureKind::kUnknown);
  EXPECT_EQ(std::get<Fail>(short_one).scope, FailureScope::kDocument);
  EXPECT_EQ(std::get<Fail>(short_one).error, "");
  EXPECT_FALSE(std::get<Fail>(short_one).without_effect);
}

// Whatever an error message is, it costs nobody the command.
TEST_F(JournalHeaders, AFailureIsTakenWhateverItsErrorIs) {
  context_.failures = true;
  const auto error_of = [this](std::optional<std::string> text) {
    const SampleRecord sample = SampleRecord::command("fail").with("reseq-target", "*").with("reseq-error", text);
    const Command command = read(sample);
    return std::string(std::get<Fail>(command).error);
  };
  EXPECT_EQ(error_of(std::nullopt), "");
  EXPECT_EQ(error_of("\xff\xfe"), "\xff\xfe");
  EXPECT_EQ(error_of(std::string(kMaxErrorBytes + 1, 'x')), std::string(kMaxErrorBytes, 'x'));
}

TEST_F(JournalHeaders, AFailureThatCannotBeReadIsRefused) {
  const auto fail = [] { return SampleRecord::command("fail").with("reseq-target", "search"); };
  EXPECT_EQ(reason_of(fail()), Reason::kUnknownCommand) << "where nothing is tried again";
  EXPECT_EQ(reason_of(fail().with("reseq-failure", "transient")), Reason::kUnsupportedHeader);
  context_.failures = true;
  EXPECT_EQ(reason_of(fail()), Reason::kNone);
  EXPECT_EQ(reason_of(SampleRecord::command("fail")), Reason::kMissingTarget);
  EXPECT_EQ(reason_of(fail().with("reseq-target", "nobody")), Reason::kUnknownTarget);
  EXPECT_EQ(reason_of(fail().without("reseq-seq")), Reason::kMissingSequence);
  EXPECT_EQ(reason_of(fail().with("reseq-attempt", "0")), Reason::kMalformedHeader);
  EXPECT_EQ(reason_of(fail().with("reseq-effect", "some")), Reason::kMalformedHeader);
  for (const char* name : {"reseq-failure", "reseq-failure-scope"}) {
    for (const char* text : {"", "Permanent", "often"})
      EXPECT_EQ(reason_of(fail().with(name, text)), Reason::kMalformedHeader) << name << ' ' << text;
    EXPECT_EQ(reason_of(fail().with(name, std::nullopt)), Reason::kMalformedHeader) << name;
  }
  for (const char* name : {"reseq-failure", "reseq-failure-scope", "reseq-effect", "reseq-error"}) {
    EXPECT_EQ(reason_with(name, "transient"), Reason::kUnsupportedHeader) << "a request with " << name;
    for (const char* command : {"register", "unregister", "sequence", "heartbeat"})
      EXPECT_EQ(reason_of(SampleRecord::command(command).with("reseq-target", "search").with(name, "x")),
                Reason::kUnsupportedHeader)
          << command << " with " << name;
  }
}

TEST_F(JournalHeaders, AHeartbeatNamesAnOrderAndItsAttempt) {
  const SampleRecord sample = SampleRecord::command("heartbeat")
                                  .with("reseq-epoch", "2")
                                  .with("reseq-revision", "4")
                                  .with("reseq-attempt", "3")
                                  .with("reseq-targets", "not read");
  const Command command = read(sample);
  const auto& heartbeat = std::get<Heartbeat>(command);
  EXPECT_EQ(heartbeat.id, "doc-1");
  EXPECT_EQ(heartbeat.epoch, Epoch(2));
  EXPECT_EQ(heartbeat.sequence, kSeven);
  EXPECT_EQ(heartbeat.revision, Revision(4));
  EXPECT_EQ(heartbeat.attempt, 3U);
  EXPECT_EQ(heartbeat.timestamp, UnixMs(1'709'164'800'000));
  const Command short_one = read(SampleRecord::command("heartbeat"));
  EXPECT_FALSE(std::get<Heartbeat>(short_one).epoch);
  EXPECT_EQ(std::get<Heartbeat>(short_one).attempt, 0U);
}

TEST_F(JournalHeaders, AHeartbeatIsRefusedAsOtherCommandsAre) {
  const auto heartbeat = [] { return SampleRecord::command("heartbeat"); };
  EXPECT_EQ(reason_of(heartbeat().without("reseq-seq")), Reason::kMissingSequence);
  EXPECT_EQ(reason_of(heartbeat().with("reseq-seq", "x")), Reason::kMalformedSequence);
  EXPECT_EQ(reason_of(heartbeat().key(std::nullopt)), Reason::kMissingId);
  EXPECT_EQ(reason_of(heartbeat().with("reseq-root", "x")), Reason::kUnsupportedHeader);
  EXPECT_EQ(reason_of(heartbeat().with("reseq-epoch", "x")), Reason::kMalformedHeader);
  EXPECT_EQ(reason_of(SampleRecord::request().with("reseq-command", "heartbeat")), Reason::kUnknownCommand);
  context_.partitions = 1000;
  EXPECT_EQ(reason_of(heartbeat()), Reason::kMisrouted);
  const Command command = read(heartbeat().without("reseq-seq"));
  EXPECT_FALSE(std::get<Refused>(command).sequence_without_id_or_seq);
}

class JournalOnTheWay : public JournalHeaders {
 protected:
  std::vector<std::pair<std::string, std::string>> edits(const OutputRecord& record) {
    std::vector<std::pair<std::string, std::string>> list;
    for (const HeaderEdit& edit : record.edits)
      list.emplace_back(edit.name, edit.value ? std::string(*edit.value) : "<removed>");
    return list;
  }
  EncodeContext encoding_{&two_targets(), SequenceKind::kU64, DeadLetterHeaders::kReseq, "shop.requests", UINT64_MAX};
};

TEST_F(JournalOnTheWay, WorkSaysTheAttemptFromTheSecondOnAndTheLease) {
  const SampleRecord sample = SampleRecord::request()
                                  .with("reseq-epoch", "0")
                                  .with("reseq-targets", "search")
                                  .with("reseq-priority", "3")
                                  .with("reseq-process-at", "5")
                                  .with("reseq-expires-at", "1709164800001");
  (void)read(sample);
  const Order order{Epoch(), kSeven, Revision()};
  const auto work = [&](std::uint32_t attempt, UnixMs lease) {
    const Dispatched dispatched{attempt, lease};
    return edits(
        encode({InputIndex(0), Forward{order, Op::kUpsert, TargetSet(1), &dispatched}}, view_, encoding_, arena_));
  };
  EXPECT_THAT(work(1, UnixMs()), ElementsAre());
  EXPECT_THAT(work(1, UnixMs(1'709'168'400'000)), ElementsAre(Pair("reseq-lease-until", "1709168400000")));
  EXPECT_THAT(work(2, UnixMs(9)), ElementsAre(Pair("reseq-attempt", "2"), Pair("reseq-lease-until", "9")));
  EXPECT_THAT(work(UINT32_MAX, UnixMs()), ElementsAre(Pair("reseq-attempt", "4294967295")));
}

// What waits when the journal is switched off is read again, as a request that nobody would take any more.
TEST_F(JournalOnTheWay, WhatStillWaitsGoesToWorkAsItCameWithoutAJournal) {
  const SampleRecord sample = SampleRecord::request()
                                  .with("reseq-epoch", "3")
                                  .with("reseq-targets", "search")
                                  .with("reseq-reprocess", "true")
                                  .with("reseq-priority", "3");
  const Dispatched dispatched{2, UnixMs(9)};
  const Forward forward{{Epoch(3), kSeven, Revision()}, Op::kUpsert, TargetSet(1), &dispatched};
  (void)read(sample);
  const auto with = edits(encode({InputIndex(0), forward}, view_, encoding_, arena_));
  without_journal();
  EXPECT_EQ(reason_of(sample), Reason::kUnsupportedHeader);
  EXPECT_EQ(edits(encode({InputIndex(0), forward}, view_, encoding_, arena_)), with);
  EXPECT_THAT(with, ElementsAre(Pair("reseq-reprocess", "<removed>"), Pair("reseq-attempt", "2"),
                                Pair("reseq-lease-until", "9")));
}

TEST_F(JournalOnTheWay, OutputsSayNothingOfIt) {
  SampleRecord sample = SampleRecord::command("sequence").with("reseq-target", "search");
  const Release release{kSearch, {}, Op::kUpsert, Version(5)};
  for (const auto names : {std::span<const char* const>(kWishes), std::span<const char* const>(kOfDispatch)})
    for (const char* name : names) {
      const SampleRecord one = SampleRecord::command("sequence").with("reseq-target", "search").with(name, "1");
      (void)read(one);
      EXPECT_THAT(edits(encode({InputIndex(0), release}, view_, encoding_, arena_)),
                  ElementsAre(Pair("reseq-command", "<removed>"), Pair(name, "<removed>"), Pair("reseq-version", "5")));
      sample.with(name, "1");
    }
  (void)read(sample);
  EXPECT_EQ(encode({InputIndex(0), release}, view_, encoding_, arena_).edits.size(), 7U);
}

TEST_F(JournalOnTheWay, TheBoundKnowsWhatADispatchAdds) {
  const SampleRecord sample = SampleRecord::request();
  const Command command = read(sample);
  const auto& request = std::get<Request>(command);
  const Order largest{Epoch(UINT32_MAX), kSeven, Revision(UINT64_MAX)};
  const Dispatched dispatched{UINT32_MAX, UnixMs(INT64_MAX)};
  const OutputRecord work = encode({InputIndex(0), Forward{largest, Op::kDelete, two_targets().all(), &dispatched}},
                                   view_, encoding_, arena_);
  std::uint64_t bytes = record_bytes_max(work.key->size(), work.payload->size(), view_.headers);
  for (const HeaderEdit& edit : work.edits)
    if (edit.value) bytes += header_bytes_max(edit.name.size(), edit.value->size());
  EXPECT_LE(bytes, request.work_bytes);
  EXPECT_GE(bytes + 64, request.work_bytes);  // the bound is near
  without_journal();
  const Command at_once = read(sample);
  EXPECT_EQ(std::get<Request>(at_once).work_bytes + dispatch_bytes_max(), request.work_bytes);
}

}  // namespace
}  // namespace reseq::codec
