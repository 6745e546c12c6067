// Where records go that are in order: a topic for each target. Defaults of the producer (acks=all, idempotent), but for
// batches that make it faster.
//
// Thread rule: any thread may write. A record that could not be written is found by the next check().
import java.util.Map;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerConfig;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.serialization.ByteArraySerializer;

final class Outputs implements AutoCloseable {
  private static final int LINGER_MS = 20;
  private static final int BATCH_BYTES = 1_000_000; // one that brokers take

  private final KafkaProducer<byte[], byte[]> producer;
  private final String application;
  private final AtomicLong written = new AtomicLong();
  private final AtomicReference<Exception> failure = new AtomicReference<>();

  Outputs(Arguments arguments) {
    application = arguments.application();
    final Map<String, Object> settings = Map.of(ProducerConfig.BOOTSTRAP_SERVERS_CONFIG, arguments.bootstrapServers(),
        ProducerConfig.LINGER_MS_CONFIG, LINGER_MS, ProducerConfig.BATCH_SIZE_CONFIG, BATCH_BYTES);
    producer = new KafkaProducer<>(settings, new ByteArraySerializer(), new ByteArraySerializer());
  }

  // With the key, payload and headers that it came with.
  void write(String target, Item item) {
    final ConsumerRecord<byte[], byte[]> from = item.record();
    producer.send(new ProducerRecord<>(application + ".output." + target, null, null, from.key(), from.value(),
        from.headers()), (metadata, error) -> fail(error));
    written.incrementAndGet();
  }

  // The first failure stays; null is none.
  void fail(Exception error) {
    if (error != null) failure.compareAndSet(null, error);
  }

  // Of all targets, with those that the broker does not have yet.
  long written() {
    return written.get();
  }

  void check() {
    final Exception error = failure.get();
    if (error != null) throw new IllegalStateException("a record was not written", error);
  }

  void flush() {
    producer.flush();
    check();
  }

  @Override
  public void close() {
    producer.close();
  }
}
