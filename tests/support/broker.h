// A real Kafka for tests: the one of RESEQ_BOOTSTRAP_SERVERS, or one that script/kafka starts in a temporary folder,
// once per test program, gone together with it.
// Thread rule: any thread.
#pragma once

#include <string>

#include "tests/support/process.h"

namespace reseq::test {

class Broker {
 public:
  // Started at the first call, which takes a few seconds (more if Kafka has to be fetched). Throws when there is none.
  static Broker& shared();
  ~Broker();
  Broker(const Broker&) = delete;
  Broker& operator=(const Broker&) = delete;

  [[nodiscard]] const std::string& bootstrap_servers() const { return address_; }
  // Where it keeps its logs; empty: it is not ours.
  [[nodiscard]] std::string data_folder() const { return pid_ == 0 ? "" : dir() + "/data"; }

  // The broker has stopped answering when this returns, and goes on at resume(). False: it is not ours.
  bool pause();
  bool resume();

 private:
  Broker();
  [[nodiscard]] std::string dir() const { return temp_.path() + "/kafka"; }
  [[nodiscard]] std::string log() const { return temp_.path() + "/kafka.log"; }

  TempDir temp_;
  int pid_ = 0;  // of the broker we started; 0 = none
  std::string address_;
};

// A name for topics and groups that no other test, program or run uses.
[[nodiscard]] std::string unique_name(const std::string& what);

}  // namespace reseq::test
