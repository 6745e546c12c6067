// What librdkafka 2.6.1 answers, the first whose SCRAM Kafka 4 accepts; or that of this machine, if it is newer.
// Thread rule: any thread.
#include <librdkafka/rdkafka.h>

int rd_kafka_version(void) {
  return RD_KAFKA_VERSION > 0x020601ff ? RD_KAFKA_VERSION : 0x020601ff;
}
