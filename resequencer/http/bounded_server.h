// BoundedServer: httplib's server, with a connection of ours (connection.h) below it, which is good for one request,
// and a bounded number of connections.
// Thread rule: that of httplib::Server.
#pragma once

#include <cstddef>
#include <httplib.h>

#include "http/limits.h"

namespace reseq::http {

class BoundedServer : public httplib::Server {
 public:
  BoundedServer(std::size_t threads, const Limits& limits);

 private:
  bool process_and_close_socket(socket_t socket) override;
  template <typename Accepted>
  void process(Accepted& connection);

  const Limits limits_;
};

}  // namespace reseq::http
