// PostgresStore: a RemoteStore in a table of PostgreSQL. A batch is one statement, with its documents as arrays, which
// also moves the position of the partition, so it is there whole or not at all.
// What takes longer than a statement may is written in parts, in one transaction.
// Invariants: after any error that is not about data or time
// the session is closed and the next call opens a new one; what a
// batch is refused for is looked for in a transaction that is rolled back.
// Thread rule: one thread at a time per object.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "consumers/postgres/connection.h"
#include "consumers/postgres/layout.h"
#include "consumers/remote/remote_store.h"

namespace reseq::postgres {

struct StoreSettings {
  ServerSettings server;
  Layout layout;
  std::string topic;
  bool makes_tables = true;
  int forget_deletes_days = 0;  // 0 = never
};

class PostgresStore : public remote::RemoteStore {
 public:
  explicit PostgresStore(StoreSettings settings) : settings_(std::move(settings)) {
    settings_.server.interrupted = &interrupted_;
  }

  [[nodiscard]] std::string place() const override;
  Result<bool> is_there() override { return exists(settings_.layout.table); }
  Result<bool> is_empty() override;
  Result<> prepare() override;
  std::vector<remote::Finding> check() override;
  Result<> write(const remote::Batch& batch, std::span<remote::Answer> answers) override;
  [[nodiscard]] bool keeps_positions() const override { return settings_.layout.positions; }
  Result<std::map<Partition, Offset>> positions(std::span<const Partition> partitions) override;
  Result<> begin_at(Partition partition, std::optional<Offset> known, Offset from) override;
  Result<> ask() override;
  Result<> tend() override;
  void interrupt() override { interrupted_ = true; }

 private:
  static constexpr std::size_t kAnyNumber = SIZE_MAX;
  // Opens a session when there is none.
  Result<> connect();
  Result<Rows> run(const std::string& statement, std::span<const Parameter> parameters = {});
  Result<bool> exists(const std::string& table);
  Result<> make();
  // In one transaction. Instances that start together would be in each other's way, so one waits for the other.
  Result<> make_one_by_one(const std::string& statements);
  // The view that readers want, where only that is missing, and the column of errors, which a table of an older version
  // lacks. The sink does without: if one cannot be made, the log says so.
  Result<> make_view();
  Result<> add_errors();
  // Empty: it is made. Otherwise why it is not.
  Result<std::string> try_to_make(const std::string& statement);
  // Why errors have no column in the table.
  [[nodiscard]] std::string why_no_errors() const;
  // kInvalid: the table is gone, and positions say that something was written to it.
  Result<> judge_missing_table();
  // Reads the types of the columns and makes the statements. kInvalid names what is missing in the table.
  Result<> learn_table();
  Result<> learn_columns();
  Result<> learn_statements();

  [[nodiscard]] std::vector<Parameter> parameters_of(std::span<const remote::Write> writes) const;
  Result<> write_alone(const remote::Batch& batch, std::span<remote::Answer> answers);
  Result<> write_and_move(const remote::Batch& batch, std::span<remote::Answer> answers);
  // In one transaction of several statements, none of more rows than went well before.
  Result<> write_in_parts(const remote::Batch& batch, std::span<remote::Answer> answers);
  Result<> write_parts(std::span<const remote::Write> writes, std::vector<std::int64_t>& versions);
  Result<bool> move_position(const remote::Batch& batch);
  // The position was not where the batch begins.
  Result<> judge_position(const remote::Batch& batch, std::span<remote::Answer> answers);
  void set_answers(const remote::Batch& batch, std::vector<std::int64_t> written,
                   std::span<remote::Answer> answers) const;

  // Some writes of the batch are refused, others not: finds out which.
  Result<> find_refused(const remote::Batch& batch, std::span<remote::Answer> answers, const Error& why);
  Result<> try_range(std::span<const remote::Write> writes, std::span<remote::Answer> answers);

  remote::Finding check_table(const std::string& table, bool is_there);
  remote::Finding check_view();
  [[nodiscard]] remote::Finding check_errors() const;
  remote::Finding check_forgetting();

  StoreSettings settings_;
  std::unique_ptr<Connection> connection_;
  std::string error_type_;  // of the column `error`; empty: there is none
  std::string write_;       // empty: the table was not looked at in this session
  std::string write_and_move_;
  std::chrono::steady_clock::time_point tended_;
  std::size_t rows_at_once_ = kAnyNumber;  // less when as many took too long in this session
  // The batch whose answer was lost: it was perhaps written.
  std::optional<std::pair<Partition, Offset>> unanswered_;
  std::atomic<bool> interrupted_ = false;
};

}  // namespace reseq::postgres
