// SearchServer: an OpenSearch for tests, started by script/opensearch in a temporary folder and gone together with the
// test program. It may be killed, stopped and started again at the same address.
// Thread rule: one thread; ask() and the address by any.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "tests/support/process.h"

namespace reseq::test {

class SearchServer {
 public:
  // `settings`: lines of name=value that win over those of the script. Throws when it cannot be started.
  explicit SearchServer(const std::vector<std::string>& settings = {});
  ~SearchServer();
  SearchServer(const SearchServer&) = delete;
  SearchServer& operator=(const SearchServer&) = delete;

  // One for all tests of a program that leave it as it was.
  static SearchServer& shared();

  [[nodiscard]] const std::string& url() const { return url_; }

  // kill -9; it is gone when this returns.
  void kill();
  // In order.
  void stop();
  // With all that it had, at the same address; throws as the constructor.
  void start_again();

  // Whether anything was written since it was started last.
  [[nodiscard]] bool is_written_to() const;

  // The answer to a request, {"status": 200, "body": ...}. Throws when there is none.
  [[nodiscard]] nlohmann::json ask(const std::string& method, const std::string& path,
                                   const std::string& body = "") const;
  // As ask(), of a request that has to succeed.
  nlohmann::json good(const std::string& method, const std::string& path, const std::string& body = "") const;

  // What the alias or index shows to who searches: source by _id, with "_version" among its members.
  [[nodiscard]] std::map<std::string, nlohmann::json> documents(const std::string& index) const;

 private:
  void run(const std::string& what, const std::vector<std::string>& more = {});
  void start(const std::vector<std::string>& more);

  TempDir folder_;
  std::string url_;
};

}  // namespace reseq::test
