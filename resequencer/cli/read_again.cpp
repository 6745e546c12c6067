#include "cli/read_again.h"

#include <string>
#include <variant>
#include <vector>

#include "codec/command_decoder.h"
#include "model/command.h"
#include "runtime/application/wiring.h"

namespace reseq::cli {

ReadAgain read_again(const DeadLetter& letter, const runtime::Application& application) {
  const config::Settings& settings = application.settings;
  std::vector<std::string> names;
  for (const config::Target& target : settings.targets) names.push_back(target.name);
  const TargetTable targets(std::move(names));
  Arena arena;
  codec::DecodeContext context = runtime::decoding(application, targets, settings.intake == "tap", arena);
  context.partitioner = Partitioner::kUnchecked;  // it goes to the partition of its key
  const std::vector<OwnedHeader> kept = letter.input_headers();
  std::vector<Header> headers;
  for (const auto& [name, value] : kept)
    headers.push_back({name, value ? std::optional<std::string_view>(*value) : std::nullopt});
  codec::InputRecord record;
  record.role = letter.text(codec::header::kSourceTopic) == settings.topic_requests ? Role::kRequests : Role::kCommands;
  record.timestamp = letter.at;
  if (letter.key) record.key = *letter.key;
  if (letter.payload) record.payload = *letter.payload;
  record.headers = headers;
  const Command command = codec::decode(record, context);
  ReadAgain again;
  if (const auto* refused = std::get_if<Refused>(&command)) again.refused = refused->reason;
  again.registers = record.role == Role::kRequests || std::holds_alternative<Register>(command);
  return again;
}

}  // namespace reseq::cli
