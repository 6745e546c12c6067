#include "demo/run/connection.h"

namespace reseq::demo {

kafka::Connection connection_of(const Settings& settings) {
  return {.bootstrap_servers = settings.bootstrap_servers,
          .client_id = "reseq-demo",
          .librdkafka = settings.librdkafka,
          .log = kafka::log_errors_to_stderr};
}

}  // namespace reseq::demo
