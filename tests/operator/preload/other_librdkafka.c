// What librdkafka 2.1.1 answers, which resets consumer offsets by itself and is therefore refused.
// Thread rule: any thread.
int rd_kafka_version(void);
int rd_kafka_version(void) {
  return 0x020101ff;
}
