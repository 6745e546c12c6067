// The state of one partition, on a real disk: looking up, changing, checkpoints, and reading a changelog.
#include <algorithm>
#include <lmdb.h>
#include <optional>
#include <stdexcept>

#include "codec/keys.h"
#include "store/batch_view.h"
#include "tests/bench/micro/samples.h"
#include "tests/bench/micro/step.h"
#include "tests/bench/requests.h"
#include "tests/support/good.h"
#include "tests/support/process.h"

namespace reseq::bench {

namespace {

constexpr std::size_t kCheckpointRows = 65'536;  // checkpoint_rows_max, as it is without a configuration

std::unique_ptr<store::PartitionStore> open(const std::string& folder) {
  return test::good(store::PartitionStore::open(test::good(store::StateFolder::open(folder, "boot")), {}));
}

void must(const Result<>& done) {
  if (!done) throw std::runtime_error(done.error().message);
}

// Rows of the changelog, one after the other, with checkpoints as a restore writes them.
void restore(store::PartitionStore& store, const std::vector<store::Change>& rows) {
  for (const store::Change& row : rows) {
    must(store.restore(row, store.position().value_or(Offset(0))));
    if (store.dirty_rows() >= kCheckpointRows) must(store.write_checkpoint());
  }
}

// A store that knows size.known documents, all of them on disk.
class Filled {
 public:
  explicit Filled(std::uint64_t known) : store_(open(place_.path())) {
    Rows rows;
    rows.add_identity();
    for (std::uint64_t document = 0; document < known; ++document) rows.add(document, 1);
    restore(*store_, rows.all());
    Rows last;
    last.add_meta(store_->summary());
    restore(*store_, last.all());
    must(store_->write_checkpoint());
  }
  [[nodiscard]] store::PartitionStore& store() { return *store_; }

 private:
  test::TempDir place_;
  std::unique_ptr<store::PartitionStore> store_;
};

class StoreStep : public Step {
 public:
  StoreStep(const Size& size, const std::vector<std::uint64_t>& documents) : filled_(size.known) { choose(documents); }
  [[nodiscard]] std::uint64_t records() const override { return ids_.size(); }

 protected:
  [[nodiscard]] store::PartitionStore& store() { return filled_.store(); }
  void choose(const std::vector<std::uint64_t>& documents) {
    ids_.clear();
    rows_.emplace();
    for (const std::uint64_t document : documents) ids_.push_back(id_of(document));
    for (const std::uint64_t document : documents) rows_->add(document, 2);
  }
  void find_all(const store::BatchView& view, bool there) const {
    for (const std::string& id : ids_) RESEQ_ASSERT(view.find(id).row.has_value() == there, "a wrong answer");
  }
  void find_all(bool there) { find_all(store::BatchView(store()), there); }
  // As a batch does it: looked up while it was decided, then summed up and changed.
  void change_all(bool there) {
    const store::BatchView view(store());
    find_all(view, there);
    std::vector<store::Change> changes = rows_->all();
    for (std::uint32_t i = 0; i < changes.size(); ++i) changes[i].looked_up = &view.at(i);
    const Summary after = store().after(changes);
    store().apply(changes, after, Offset(store().position()->value() + static_cast<std::int64_t>(changes.size())));
  }

 private:
  Filled filled_;
  std::vector<std::string> ids_;
  std::optional<Rows> rows_;
};

std::vector<std::uint64_t> unknown(const Size& size) {
  std::vector<std::uint64_t> documents = drawn(size.batch, size.batch);
  for (std::uint64_t& document : documents) document += size.known;
  return documents;
}

class FindOnDisk final : public StoreStep {
 public:
  explicit FindOnDisk(const Size& size) : StoreStep(size, drawn(size.batch, size.known)) {}
  void run() override { find_all(true); }
};

class FindNowhere final : public StoreStep {
 public:
  explicit FindNowhere(const Size& size) : StoreStep(size, unknown(size)) {}
  void run() override { find_all(false); }
};

class FindInMemory final : public StoreStep {
 public:
  explicit FindInMemory(const Size& size) : StoreStep(size, drawn(size.batch, size.known)) { change_all(true); }
  void run() override { find_all(true); }
};

class ChangeKnown final : public StoreStep {
 public:
  explicit ChangeKnown(const Size& size) : StoreStep(size, drawn(size.batch, size.known)) {}
  void prepare() override { must(store().write_checkpoint()); }
  void run() override { change_all(true); }
};

// Other documents in each run.
class ChangeNew final : public StoreStep {
 public:
  explicit ChangeNew(const Size& size) : StoreStep(size, {}), size_(size), next_(size.known) {}
  void prepare() override {
    must(store().write_checkpoint());
    choose(unknown({next_, size_.batch}));
    next_ += size_.batch;
  }
  void run() override { change_all(false); }

 private:
  Size size_;
  std::uint64_t next_;
};

class WriteCheckpoint final : public StoreStep {
 public:
  explicit WriteCheckpoint(const Size& size)
      : StoreStep(size, drawn(std::min<std::uint64_t>(kCheckpointRows, size.known), size.known)) {}
  void prepare() override {
    must(store().write_checkpoint());
    change_all(true);
    rows_ = store().dirty_rows();
  }
  void run() override { must(store().write_checkpoint()); }
  [[nodiscard]] std::uint64_t records() const override { return rows_; }

 private:
  std::uint64_t rows_ = kCheckpointRows;
};

// What a checkpoint costs at least: the same rows into a plain LMDB, sorted before.
class PlainLmdb final : public Step {
 public:
  explicit PlainLmdb(const Size& size) {
    check(::mdb_env_create(&env_));
    check(::mdb_env_set_mapsize(env_, std::size_t{8} << 30U));
    check(::mdb_env_open(env_, place_.path().c_str(), MDB_NOSYNC | MDB_NOLOCK | MDB_NOMEMINIT, 0600));
    Rows all;
    for (std::uint64_t document = 0; document < size.known; ++document) all.add(document, 1);
    write(sorted(all));
    for (const std::uint64_t document : drawn(std::min<std::uint64_t>(kCheckpointRows, size.known), size.known))
      rows_.add(document, 2);
    changes_ = sorted(rows_);
  }
  ~PlainLmdb() override { ::mdb_env_close(env_); }
  PlainLmdb(const PlainLmdb&) = delete;
  PlainLmdb& operator=(const PlainLmdb&) = delete;
  void run() override { write(changes_); }
  [[nodiscard]] std::uint64_t records() const override { return changes_.size(); }

 private:
  static void check(int code) {
    if (code != 0) throw std::runtime_error(::mdb_strerror(code));
  }
  static std::vector<store::Change> sorted(const Rows& rows) {
    std::vector<store::Change> all = rows.all();
    std::sort(all.begin(), all.end(), [](const auto& a, const auto& b) { return a.key < b.key; });
    return all;
  }
  void write(const std::vector<store::Change>& rows) {
    MDB_txn* transaction = nullptr;
    MDB_dbi table = 0;
    check(::mdb_txn_begin(env_, nullptr, 0, &transaction));
    check(::mdb_dbi_open(transaction, nullptr, 0, &table));
    for (const store::Change& row : rows) {
      MDB_val key{row.key.size(), const_cast<char*>(row.key.data())};          // NOLINT: LMDB only reads it
      MDB_val value{row.value->size(), const_cast<char*>(row.value->data())};  // NOLINT: the same
      check(::mdb_put(transaction, table, &key, &value, 0));
    }
    check(::mdb_txn_commit(transaction));
  }

  test::TempDir place_;
  MDB_env* env_ = nullptr;
  Rows rows_;
  std::vector<store::Change> changes_;
};

// A changelog that is read into an empty folder, each document once.
class Restore final : public Step {
 public:
  explicit Restore(const Size& size) {
    rows_.add_identity();
    for (const std::uint64_t document : drawn(size.known, size.known)) rows_.add(document, 1);
  }
  void prepare() override {
    store_.reset();
    place_.emplace();
    store_ = open(place_->path());
  }
  void run() override { restore(*store_, rows_.all()); }
  [[nodiscard]] std::uint64_t records() const override { return rows_.all().size(); }

 private:
  Rows rows_;
  std::optional<test::TempDir> place_;  // another one for each run
  std::unique_ptr<store::PartitionStore> store_;
};

}  // namespace

std::vector<NamedStep> store_steps() {
  return {
      named<FindInMemory>("find_in_memory", "a row that was changed since the last checkpoint, decoded"),
      named<FindOnDisk>("find_on_disk", "a row that was not, decoded"),
      named<FindNowhere>("find_nowhere", "a document that nobody knows"),
      named<ChangeNew>("change_new", "all that a batch asks of the state for a new document"),
      named<ChangeKnown>("change_known", "the same for one that lies on disk"),
      named<WriteCheckpoint>("checkpoint", "a changed row, written to disk in a checkpoint"),
      named<PlainLmdb>("plain_lmdb", "the same row, sorted before, in a plain LMDB"),
      named<Restore>("restore", "a row of the changelog, applied to a copy that is made anew, checkpoints included"),
  };
}

}  // namespace reseq::bench
