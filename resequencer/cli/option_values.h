// What options of the command line take: durations as 90s, 10m, 2h, whole numbers, one word of a few, parts of
// errors, and ids.
// Thread rule: pure functions.
#pragma once

#include <CLI/CLI.hpp>
#include <charconv>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <system_error>
#include <type_traits>
#include <utility>

#include "admin/query.h"
#include "cli/refusal.h"
#include "codec/base64.h"
#include "model/row.h"

namespace reseq::cli {

// The id of a document as an operator gives it.
struct GivenId {
  std::string text;
  bool base64 = false;

  CLI::Option* declare(CLI::App& command) {
    CLI::Option* id = command.add_option("id", text, "the document's id")->required();
    command.add_flag("--base64", base64, "the id is given in base64, as ids are shown that are no text (base64:...)");
    return id;
  }
  // kInvalid: it was to be base64 and is not.
  [[nodiscard]] Result<std::string> bytes() const {
    if (!base64) return text;
    auto parsed = codec::parse_base64(text);
    if (!parsed) return invalid("the id is no base64 (without the word base64: in front)");
    return std::move(*parsed);
  }
};

// Makes an option for milliseconds take a number with its unit.
[[nodiscard]] inline CLI::Validator duration() {
  static const std::map<std::string, std::int64_t, std::less<>> units = {
      {"ms", 1}, {"s", 1000}, {"m", 60'000}, {"h", 3'600'000}, {"d", 86'400'000}};
  const auto translate = [](std::string& text) {
    std::int64_t number = 0;
    const auto [unit, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    const auto found = units.find(std::string_view(unit, static_cast<std::size_t>(text.data() + text.size() - unit)));
    if (error != std::errc() || number < 0 || found == units.end() || number > INT64_MAX / found->second)
      return "\"" + text + "\" is no time: a whole number with ms, s, m, h or d behind it, as 90s";
    text = std::to_string(number * found->second);
    return std::string();
  };
  return CLI::Validator(translate, "TIME");
}

// Digits only, from `least` to `most`: CLI11's own numbers without sign take -1 for the largest of all, and 010 for 8.
[[nodiscard]] inline CLI::Validator whole_number(std::uint64_t least, std::uint64_t most) {
  const auto look = [least, most](std::string& text) {
    std::uint64_t number = 0;
    const char* end = text.data() + text.size();
    const auto [stop, error] = std::from_chars(text.data(), end, number);
    const bool octal = text.size() > 1 && text.front() == '0';
    if (error == std::errc() && stop == end && !octal && number >= least && number <= most) return std::string();
    return "\"" + text + "\" is no whole number from " + std::to_string(least) + " to " + std::to_string(most);
  };
  return CLI::Validator(look, "NUMBER");
}

// The error of failures, by a part of it or by all that is shown of it.
struct ErrorOptions {
  CLI::Option* part = nullptr;
  CLI::Option* shown = nullptr;

  // `where` stands before what they are for.
  static ErrorOptions declare(CLI::App& command, admin::WantedError& into, const std::string& where) {
    // Nothing would be in all of them, and more is in none.
    const auto bytes = [](std::size_t least) {
      return CLI::Validator(
          [least](const std::string& text) {
            const bool fits = text.size() >= least && text.size() <= kMaxErrorBytes;
            return fits ? "" : "it has " + std::to_string(least) + " to " + std::to_string(kMaxErrorBytes) + " bytes";
          },
          "TEXT");
    };
    ErrorOptions all;
    all.part = command.add_option("--error", into.part, where + "with this text in their last error, in this case")
                   ->check(bytes(1));
    all.shown = command
                    .add_option_function<std::string>(
                        "--error-is", [&into](const std::string& text) { into.shown = text; },
                        where + "whose last error is this text, or begins so and is cut in stats; empty: none was said")
                    ->check(bytes(0))
                    ->excludes(all.part);
    return all;
  }
  // One of them is there where no failure is meant.
  void refuse_unless(bool failures, const char* states) const {
    for (const CLI::Option* one : {part, shown})
      if (one->count() > 0 && !failures)
        throw CLI::ValidationError(one->get_name(), std::string("is only for --state ") + states);
  }
};

// Makes an option for an enumeration take its names, and nothing else: CLI11's own would print numbers beside them.
template <typename Enumeration>
[[nodiscard]] CLI::Validator one_of(const std::map<std::string, Enumeration>& names) {
  const auto translate = [names](std::string& word) {
    const auto found = names.find(word);
    if (found != names.end()) {
      word = std::to_string(static_cast<std::underlying_type_t<Enumeration>>(found->second));
      return std::string();
    }
    std::string all;
    for (const auto& [name, value] : names) all += (all.empty() ? "" : ", ") + name;
    return "\"" + word + "\" is none of " + all;
  };
  return CLI::Validator(translate, "");
}

}  // namespace reseq::cli
