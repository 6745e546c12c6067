// Decoding and encoding: pure functions.
#include "codec/hash.h"
#include "codec/keys.h"
#include "codec/output_encoder.h"
#include "codec/rows.h"
#include "tests/bench/micro/samples.h"
#include "tests/bench/micro/step.h"

namespace reseq::bench {

namespace {

class Decode final : public Step {
 public:
  explicit Decode(const Size& size) : records_(size.batch) {
    for (std::uint64_t i = 0; i < size.batch; ++i) inputs_.add_request(i, i + 1);
  }
  void run() override {
    const codec::DecodeContext context = decoding(targets_);
    for (auto& input : inputs_.all())
      decoded_ += std::holds_alternative<Request>(codec::decode(input, context)) ? 1 : 0;
    RESEQ_ASSERT(decoded_ % records_ == 0, "a sample that is no request");
  }
  [[nodiscard]] std::uint64_t records() const override { return records_; }

 private:
  std::uint64_t records_;
  std::uint64_t decoded_ = 0;
  Inputs inputs_;
  TargetTable targets_ = target_table();
};

class EncodeOutput final : public Step {
 public:
  explicit EncodeOutput(const Size& size) : records_(size.batch) {
    for (std::uint64_t i = 0; i < size.batch; ++i) inputs_.add_request(i, i + 1);
    for (auto& input : inputs_.all()) (void)codec::decode(input, decoding(targets_));
  }
  void run() override {
    codec::EncodeContext encoding;
    encoding.targets = &targets_;
    std::uint64_t edits = 0;
    Arena arena;
    const Emission emission{InputIndex(0), Forward{Order{}, Op::kUpsert, TargetSet(3)}};
    for (const auto& input : inputs_.all()) edits += codec::encode(emission, input, encoding, arena).edits.size();
    RESEQ_ASSERT(edits == 0, "a sample that is not forwarded as it came");
  }
  [[nodiscard]] std::uint64_t records() const override { return records_; }

 private:
  std::uint64_t records_;
  Inputs inputs_;
  TargetTable targets_ = target_table();
};

class RowStep : public Step {
 public:
  explicit RowStep(const Size& size) {
    for (std::uint64_t i = 0; i < size.batch; ++i) rows_.add(i, i + 1);
  }
  [[nodiscard]] std::uint64_t records() const override { return rows_.all().size(); }

 protected:
  [[nodiscard]] const Rows& rows() const { return rows_; }

 private:
  Rows rows_;
};

class DecodeRow final : public RowStep {
 public:
  using RowStep::RowStep;
  void run() override {
    for (const store::Change& row : rows().all())
      RESEQ_ASSERT(std::holds_alternative<codec::DocumentRow>(codec::decode_row(row.key, *row.value)), "no row");
  }
};

class DigestRow final : public RowStep {
 public:
  using RowStep::RowStep;
  void run() override {
    for (const store::Change& row : rows().all()) sum_ = codec::add(sum_, hash_.of_record(row.key, *row.value));
  }

 private:
  codec::KeyedHash hash_{identity().hash_key};
  Digest sum_;
};

class EncodeRow final : public Step {
 public:
  explicit EncodeRow(const Size& size) {
    for (std::uint64_t i = 0; i < size.batch; ++i) rows_.push_back(row_of(i + 1));
  }
  void run() override {
    for (const Row& row : rows_) {
      key_.clear();
      value_.clear();
      codec::append_document_key("doc-123456", hash_, key_);
      codec::encode_row(key_, "doc-123456", row, value_);
    }
  }
  [[nodiscard]] std::uint64_t records() const override { return rows_.size(); }

 private:
  codec::KeyedHash hash_{identity().hash_key};
  std::vector<Row> rows_;
  std::string key_, value_;
};

}  // namespace

std::vector<NamedStep> codec_steps() {
  return {
      named<Decode>("decode", "a request with three headers, from record to command"),
      named<EncodeOutput>("encode_output", "the record that is forwarded to `work`"),
      named<EncodeRow>("encode_row", "key and row of a document"),
      named<DecodeRow>("decode_row", "a row with all of its checks"),
      named<DigestRow>("digest", "hash of a row, and its sum"),
  };
}

}  // namespace reseq::bench
