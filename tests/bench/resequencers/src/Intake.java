// Hands the records of commands over to the resequencers of their targets. One reader is enough: with one for each
// partition neither library was faster on two cores.
//
// Offsets are committed by the consumer itself: of what was handed over, which is all that such an application knows.
// What a resequencer keeps in memory is committed, too, and lost with the process.
//
// Thread rule: run() is one thread; stop() may be called by any.
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.apache.kafka.clients.consumer.ConsumerConfig;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;

final class Intake {
  private static final int COMMIT_MS = 500;
  private static final Duration POLL_LIMIT = Duration.ofMillis(100);
  private static final long LOOK_MS = 10;

  private final Arguments arguments;
  private final Map<String, Resequencer> resequencers;
  private final Outputs outputs;
  private volatile boolean stopped = false;
  private long handedOver = 0;

  Intake(Arguments arguments, Map<String, Resequencer> resequencers, Outputs outputs) {
    this.arguments = arguments;
    this.resequencers = resequencers;
    this.outputs = outputs;
  }

  void stop() {
    stopped = true;
  }

  // Until stopped. Closing the consumer commits, behind all that was written.
  void run() throws InterruptedException {
    try (KafkaConsumer<byte[], byte[]> consumer = consumer()) {
      consumer.subscribe(List.of(arguments.application() + ".commands"));
      while (!stopped) {
        for (ConsumerRecord<byte[], byte[]> record : consumer.poll(POLL_LIMIT)) handOver(record);
        outputs.check();
      }
      awaitLast();
      outputs.flush();
    }
  }

  private KafkaConsumer<byte[], byte[]> consumer() {
    return new KafkaConsumer<>(Map.of(ConsumerConfig.BOOTSTRAP_SERVERS_CONFIG, arguments.bootstrapServers(),
        ConsumerConfig.GROUP_ID_CONFIG, arguments.application(), ConsumerConfig.AUTO_OFFSET_RESET_CONFIG, "earliest",
        ConsumerConfig.AUTO_COMMIT_INTERVAL_MS_CONFIG, COMMIT_MS), new ByteArrayDeserializer(),
        new ByteArrayDeserializer());
  }

  private void handOver(ConsumerRecord<byte[], byte[]> record) {
    final String target = Item.header(record, "reseq-target");
    final Resequencer resequencer = resequencers.get(target);
    if (resequencer == null) throw new IllegalArgumentException("a record for the target " + target);
    resequencer.accept(Item.of(record));
    ++handedOver;
  }

  // What still waits is given the time after which it is written whatever is missing. Of two that are the same one is
  // dropped, so the numbers may never meet: hence the limit.
  private void awaitLast() throws InterruptedException {
    final long limit = System.nanoTime() + Duration.ofMillis(arguments.timeoutMs()).plusSeconds(1).toNanos();
    while (outputs.written() < handedOver && System.nanoTime() < limit) Thread.sleep(LOOK_MS);
  }
}
