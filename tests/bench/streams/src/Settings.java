// The configuration of Kafka Streams: exactly once, and what was fastest here (docs/performance.md has what was tried).
// --set KEY=VALUE wins over all of it.
import java.util.Properties;
import org.apache.kafka.clients.consumer.ConsumerConfig;
import org.apache.kafka.clients.producer.ProducerConfig;
import org.apache.kafka.streams.StreamsConfig;

final class Settings {
  private static final int MIB = 1024 * 1024;

  private Settings() {}

  static Properties of(Arguments arguments) {
    final Properties all = new Properties();
    all.put(StreamsConfig.APPLICATION_ID_CONFIG, arguments.application());
    all.put(StreamsConfig.BOOTSTRAP_SERVERS_CONFIG, arguments.bootstrapServers());
    all.put(StreamsConfig.STATE_DIR_CONFIG, arguments.stateDir());
    all.put(StreamsConfig.NUM_STREAM_THREADS_CONFIG, arguments.threads());
    all.put(StreamsConfig.PROCESSING_GUARANTEE_CONFIG, StreamsConfig.EXACTLY_ONCE_V2);
    all.put(StreamsConfig.REPLICATION_FACTOR_CONFIG, -1); // of the changelog: as the brokers say
    all.put(StreamsConfig.ROCKSDB_CONFIG_SETTER_CLASS_CONFIG, RocksSettings.class);
    all.put(StreamsConfig.ENABLE_METRICS_PUSH_CONFIG, false);
    consume(all);
    produce(all);
    all.putAll(arguments.overrides());
    return all;
  }

  private static void consume(Properties all) {
    all.put(StreamsConfig.mainConsumerPrefix(ConsumerConfig.AUTO_OFFSET_RESET_CONFIG), "earliest");
    all.put(StreamsConfig.mainConsumerPrefix(ConsumerConfig.MAX_PARTITION_FETCH_BYTES_CONFIG), 4 * MIB);
  }

  private static void produce(Properties all) {
    all.put(StreamsConfig.producerPrefix(ProducerConfig.BATCH_SIZE_CONFIG), 1_000_000); // one that brokers take
    all.put(StreamsConfig.producerPrefix(ProducerConfig.LINGER_MS_CONFIG), 100);
    all.put(StreamsConfig.producerPrefix(ProducerConfig.BUFFER_MEMORY_CONFIG), 64 * MIB);
    all.put(StreamsConfig.producerPrefix(ProducerConfig.MAX_REQUEST_SIZE_CONFIG), 4 * MIB);
  }
}
