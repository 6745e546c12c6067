// The peer of the benchmark: what a user of Kafka Streams would write instead of the resequencer.
//   java -cp 'target/classes:target/jars/*' Peer --bootstrap-servers S --application ID --mode intake|life
//     --store rocksdb|memory --state DIR --targets a,b [--threads N] [--set KEY=VALUE]...
// Reads and writes the topics of the resequencer (schemas/wire.md), exactly once. Prints "ready" when it runs. SIGTERM
// ends it with code 0; an error of Kafka Streams ends it with code 1.
//
// What it leaves out, all of which would cost it more: events, order per target (the targets of a document share one
// order), revisions, barriers, routes, commands other than SEQUENCE, the check for one sequence with two payloads, the
// sweep of old watermarks.
//
// Thread rule: main() waits; the threads of Kafka Streams work; the hook of the JVM closes them.
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import org.apache.kafka.streams.KafkaStreams;
import org.apache.kafka.streams.errors.StreamsUncaughtExceptionHandler.StreamThreadExceptionResponse;

public final class Peer {
  private static final Duration CLOSE_LIMIT = Duration.ofSeconds(30);
  private static final int USAGE = 64; // EX_USAGE

  private final KafkaStreams streams;
  private final CountDownLatch ended = new CountDownLatch(1);
  private volatile boolean ready = false;
  private volatile boolean failed = false;

  private Peer(Arguments arguments) {
    streams = new KafkaStreams(DocumentTopology.of(arguments), Settings.of(arguments));
    streams.setStateListener((state, before) -> follow(state));
    streams.setUncaughtExceptionHandler(error -> {
      System.err.println("peer: " + error);
      failed = true;
      return StreamThreadExceptionResponse.SHUTDOWN_CLIENT;
    });
  }

  private void follow(KafkaStreams.State state) {
    if (state == KafkaStreams.State.RUNNING && !ready) {
      ready = true;
      System.out.println("ready");
      System.out.flush();
    }
    if (state == KafkaStreams.State.ERROR) {
      failed = true;
      ended.countDown();
    }
  }

  // Runs in the hook. A JVM that a signal ends would exit with 143 whatever happened: halt() says how it went.
  private void close() {
    final boolean closed = streams.close(CLOSE_LIMIT);
    Runtime.getRuntime().halt(failed || !closed ? 1 : 0);
  }

  private void run() throws InterruptedException {
    Runtime.getRuntime().addShutdownHook(new Thread(this::close, "close"));
    streams.start();
    ended.await();
  }

  public static void main(String[] words) throws InterruptedException {
    System.setProperty("org.slf4j.simpleLogger.defaultLogLevel", "warn");
    final Arguments arguments;
    try {
      arguments = Arguments.parse(words);
    } catch (IllegalArgumentException error) {
      System.err.println("peer: " + error.getMessage());
      System.exit(USAGE);
      return;
    }
    new Peer(arguments).run();
    System.exit(1); // through the hook
  }
}
