// The report for people.
#include <algorithm>
#include <string>

#include "base/log.h"
#include "observe/report.h"

namespace reseq::observe {

namespace {

constexpr std::size_t kNameWidth = 24;
constexpr std::size_t kColumns = 100;

std::string shown(const Json& value) {
  if (value.is_string()) return log::one_line(value.get<std::string>());
  return value.is_number() ? value.dump() : "-";
}

// An empty object when there is none.
Json at(const Json& report, const char* path) {
  const Json::json_pointer pointer(path);
  return report.contains(pointer) ? report.at(pointer) : Json::object();
}

class Text {
 public:
  explicit Text(const Json& report) : report_(report) {}

  void line(const std::string& name, const std::string& value, const std::string& note = "") {
    std::string begin = name;
    begin.resize(std::max(kNameWidth, begin.size() + 1), ' ');
    std::string number = value;
    if (!note.empty()) number.resize(std::max<std::size_t>(10, number.size() + 2), ' ');
    out_ += begin + number + note + "\n";
  }
  void count(const std::string& name, const char* path, const std::string& note = "") {
    line(name, shown(at(report_, path)), note);
  }
  void heading(const std::string& text) { out_ += "\n" + text + "\n"; }

  void topic(const std::string& name, const char* path) {
    const Json topic = at(report_, path);
    const std::string left = shown(topic.value("left", Json()));
    line(name, shown(topic.value("topic", Json())) + ", " + shown(topic.value("partitions", Json())) + " partitions, " +
                   shown(topic.value("records", Json())) + " records read" +
                   (left == "0" ? "" : ", " + left + " offsets still to read"));
  }
  void refused(const char* path) {
    const Json reasons = at(report_, path);
    if (!reasons.is_object()) return;
    for (const auto& [reason, count] : reasons.items()) line("  not usable", shown(count), reason);
  }
  void distribution(const std::string& name, const char* path, const std::string& unit) {
    const Json one = at(report_, path);
    if (one.value("count", 0U) == 0) return;
    line(name, "half within " + shown(one.value("p50", Json())) + unit + ", 99 of 100 within " +
                   shown(one.value("p99", Json())) + unit + ", at most " + shown(one.value("max", Json())) + unit);
  }
  void worst() {
    const Json all = at(report_, "/worst");
    if (!all.is_array() || all.empty()) return;
    heading("Worst documents, by stale writes");
    for (const Json& one : all) {
      const std::string id =
          one.contains("id") ? shown(one["id"]) : shown(one.value("id_base64", Json())) + " (base64)";
      const bool exact = !one.contains("at_most_too_high_by");
      line("  " + shown(one.value("stale_writes", Json())), id,
           exact ? "" : "(up to " + shown(one["at_most_too_high_by"]) + " too high)");
    }
  }
  void wrong() {
    if (!report_.contains("wrong_now")) return;
    heading("Wrong now, listed in " + shown(at(report_, "/wrong_now/file")));
    count("  overwritten", "/wrong_now/overwritten", "their last result is older than one before it: sure");
    count("  missing", "/wrong_now/missing", "their newest request has no result yet, by timestamps");
  }
  void advice(const std::string& level, const std::string& title) {
    const Json all = at(report_, "/advice");
    bool any = false;
    for (const Json& one : all.is_array() ? all : Json::array()) {
      if (one.value("level", "") != level) continue;
      if (!any) heading(title);
      any = true;
      if (one.contains("setting") && one.contains("value")) {
        const std::string value = shown(one["value"]);
        const bool digits = value.find_first_not_of("0123456789") == std::string::npos;
        out_ += "  " + shown(one["setting"]) + " = " + (digits ? value : "\"" + value + "\"") + "\n";
        wrapped(shown(one["what"]), "      ");
      } else {
        wrapped(shown(one["what"]), "  ");
      }
      if (one.contains("why")) wrapped(shown(one["why"]), "      ");
    }
  }
  void unknown() {
    const Json all = at(report_, "/unknown");
    if (!all.is_array()) return;
    heading("What an observer cannot know");
    for (const Json& one : all) wrapped(shown(one), "  ");
  }
  std::string take() { return std::move(out_); }

 private:
  void wrapped(const std::string& text, const std::string& indent) {
    std::string row = indent;
    std::size_t begin = 0;
    while (begin < text.size()) {
      std::size_t end = text.find(' ', begin);
      if (end == std::string::npos) end = text.size();
      if (row.size() > indent.size() && row.size() + 1 + end - begin > kColumns) {
        out_ += row + "\n";
        row = indent;
      }
      row += (row.size() > indent.size() ? " " : "") + text.substr(begin, end - begin);
      begin = end + 1;
    }
    out_ += row + "\n";
  }

  const Json& report_;
  std::string out_;
};

}  // namespace

std::string report_text(const Json& report) {
  Text text(report);
  text.count("observer", "/state");
  text.line("from", shown(at(report, "/from")) + ", began " + shown(at(report, "/began")) + ", written " +
                        shown(at(report, "/written")));
  text.topic("input", "/input");
  text.topic("output", "/output");
  text.heading("Results, compared with the results before them");
  text.count("  total", "/results/total");
  text.count("  in order", "/results/in_order", "newer than everything written before for their document");
  text.count("  stale writes", "/results/out_of_order", "out of order: older than something written before");
  text.count("  duplicates", "/results/duplicates", "the newest one once more");
  text.count("  withdrawn", "/results/withdrawn", "for a target that their request did not want");
  text.refused("/results/refused");
  text.heading("The resequencer would have stopped");
  text.count("  stale writes", "/would_have_stopped/stale_writes",
             "the same ones, sure: each put old content over newer");
  text.count("  duplicates", "/would_have_stopped/duplicates", "sure");
  text.count("  superseded", "/would_have_stopped/superseded_by_timestamps",
             "at least, by timestamps: a newer request was there already");
  text.distribution("  stale writes came", "/lateness_ms", " ms");
  text.distribution("  and were behind by", "/reorder_distance", "");
  text.heading("Requests");
  text.count("  total", "/requests/total");
  text.count("  registered", "/requests/registered");
  text.count("  repeated", "/requests/repeated", "the same once more");
  text.count("  behind", "/requests/behind", "a newer request stands before them");
  text.count("  reused", "/requests/reused", "another edit has the same sequence");
  text.refused("/requests/refused");
  text.count("  without request", "/unregistered_by_timestamps", "results, by timestamps");
  text.distribution("  answered within", "/answer_ms", " ms");
  text.count("  documents waiting", "/documents/waiting", "for a result of their newest request");
  text.wrong();
  text.worst();
  text.advice("must", "Must change before it goes live");
  text.advice("should", "Suggested settings");
  text.advice("fine", "Fine as it is");
  text.unknown();
  return text.take();
}

}  // namespace reseq::observe
