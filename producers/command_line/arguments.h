// Arguments of reseq-produce: what the user asked for.
// Thread rule: plain values.
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "model/order.h"
#include "producers/load/load_source.h"
#include "producers/sending/sender.h"
#include "producers/tagging/change.h"

namespace reseq::command_line {

struct GitArguments {
  std::filesystem::path repository = ".";
  std::string revision = "HEAD";
  std::string after;  // a revision; empty: the whole history is sent
  std::uint64_t blob_bytes_max = std::uint64_t{16} << 20;
};

struct NdjsonArguments {
  std::string path = "-";
  sending::OnUnusable on_error = sending::OnUnusable::kStop;
};

struct LoadArguments {
  load::LoadOptions options;
  std::optional<std::filesystem::path> oracle;
};

struct Arguments {
  std::string bootstrap_servers;
  std::string topic;
  std::map<std::string, std::string> properties;  // of librdkafka
  std::string partitioner = "murmur2";
  std::uint64_t records_per_second = 0;
  std::string follow_group;
  std::uint64_t lag_max = 1000;
  std::optional<std::filesystem::path> progress_file;
  std::optional<std::filesystem::path> state_file;
  std::chrono::milliseconds checkpoint_interval{2000};
  SequenceKind sequence_kind = SequenceKind::kU64;
  std::vector<std::string> targets;
  std::optional<Epoch> epoch;
  tagging::Turn turn;
  bool dry_run = false;
  bool quiet = false;
  std::variant<GitArguments, NdjsonArguments, LoadArguments> source;
};

// The arguments, or the exit code of a program that has already said what there is to say (help, a usage error).
[[nodiscard]] std::variant<Arguments, int> parse_arguments(int count, const char* const* words);

}  // namespace reseq::command_line
