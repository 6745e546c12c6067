#include "tests/opensearch/search_server.h"

#include <csignal>
#include <fstream>
#include <httplib.h>
#include <stdexcept>
#include <thread>
#include <unistd.h>

#include "tests/support/source_path.h"

namespace reseq::test {
namespace {

constexpr int kLimitMs = 180'000;  // the first one may have to fetch it
constexpr int kAnswerLimitS = 60;
constexpr int kSearchPage = 5'000;

}  // namespace

SearchServer::SearchServer(const std::vector<std::string>& settings) {
  std::ofstream file(folder_.path() + "/settings");
  for (const std::string& line : settings) file << line << "\n";
  file.close();
  start({});
}

SearchServer::~SearchServer() {
  try {
    run("wipe");
  } catch (const std::exception&) {
    // It ends with this process.
  }
}

SearchServer& SearchServer::shared() {
  static SearchServer server;
  return server;
}

void SearchServer::start(const std::vector<std::string>& more) {
  std::vector<std::string> arguments = {"--while", std::to_string(::getpid()), "--properties",
                                        folder_.path() + "/settings"};
  arguments.insert(arguments.end(), more.begin(), more.end());
  run("start", arguments);
  std::ifstream(folder_.path() + "/node/url") >> url_;
}

void SearchServer::kill() {
  pid_t pid = 0;
  std::ifstream(folder_.path() + "/node/node.pid") >> pid;
  if (pid <= 0 || ::kill(pid, SIGKILL) != 0) throw std::runtime_error("there is no OpenSearch to kill");
  // A zombie answers nobody either, but whoever reaps it may be slow: what counts is that its port is free.
  httplib::Client client(url_);
  while (client.Get("/")) std::this_thread::sleep_for(std::chrono::milliseconds(10));
}

void SearchServer::stop() {
  run("stop");
}

void SearchServer::start_again() {
  start({"--port", url_.substr(url_.rfind(':') + 1)});
}

void SearchServer::run(const std::string& what, const std::vector<std::string>& more) {
  std::vector<std::string> argv = {source_path("script/opensearch"), what, "--dir", folder_.path() + "/node"};
  argv.insert(argv.end(), more.begin(), more.end());
  Process process(argv, folder_.path() + "/log");
  if (process.wait(kLimitMs) != 0) throw std::runtime_error("an OpenSearch of its own: " + process.tail());
}

bool SearchServer::is_written_to() const {
  return good("GET", "/_stats/indexing").at("/_all/total/indexing/index_total"_json_pointer) > 0;
}

nlohmann::json SearchServer::ask(const std::string& method, const std::string& path, const std::string& body) const {
  httplib::Client client(url_);
  client.set_read_timeout(kAnswerLimitS);
  httplib::Request request;
  request.method = method;
  request.path = path;
  if (!body.empty()) {
    request.body = body;
    request.set_header("Content-Type", "application/json");
  }
  const auto answer = client.send(request);
  if (!answer) throw std::runtime_error("no answer of " + url_ + " to " + method + " " + path);
  return {{"status", answer->status}, {"body", nlohmann::json::parse(answer->body, nullptr, false)}};
}

nlohmann::json SearchServer::good(const std::string& method, const std::string& path, const std::string& body) const {
  nlohmann::json answer = ask(method, path, body);
  if (answer["status"] != 200 && answer["status"] != 201)
    throw std::runtime_error(method + " " + path + ": " + answer.dump());
  return answer["body"];
}

std::map<std::string, nlohmann::json> SearchServer::documents(const std::string& index) const {
  (void)good("POST", "/" + index + "/_refresh");
  std::map<std::string, nlohmann::json> found;
  nlohmann::json question = {{"size", kSearchPage}, {"version", true}, {"sort", {{{"_doc", "asc"}}}}};
  while (true) {
    const nlohmann::json hits = good("POST", "/" + index + "/_search", question.dump())["hits"]["hits"];
    for (const nlohmann::json& hit : hits) {
      nlohmann::json document = hit["_source"];
      document["_version"] = hit["_version"];
      found[hit["_id"].get<std::string>()] = document;
    }
    if (hits.size() < kSearchPage) return found;
    question["search_after"] = hits.back()["sort"];
  }
}

}  // namespace reseq::test
