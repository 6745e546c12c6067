// What librdkafka 2.6.1 answers, the first whose SCRAM Kafka 4 accepts.
// Thread rule: any thread.
int rd_kafka_version(void);
int rd_kafka_version(void) {
  return 0x020601ff;
}
