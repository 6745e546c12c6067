// The peer with topics of retries: a worker with Spring Kafka's non-blocking retries, as its documentation shows them.
//   java -cp 'target/classes:target/jars/*' RetryTopics --bootstrap-servers S --application ID --fail-every N
//     --backoff-ms MS --partitions N
// Reads ID.requests and writes each payload to ID.output.search and ID.output.catalogue, with the key and the headers
// reseq-*. The first attempt of the first request of each Nth document throws. Prints "ready" when it runs. SIGTERM
// ends it with code 0.
//
// Thread rule: main() waits; the threads of the listeners work; the hook of the JVM closes them.
import java.util.HashMap;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import org.springframework.context.annotation.AnnotationConfigApplicationContext;
import org.springframework.core.env.MapPropertySource;

public final class RetryTopics {
  private static final int USAGE = 64; // EX_USAGE
  private static final Set<String> OPTIONS =
      Set.of("--bootstrap-servers", "--application", "--fail-every", "--backoff-ms", "--partitions");

  private RetryTopics() {}

  // The options without their dashes are what `${..}` in the annotations names.
  private static Map<String, Object> parse(String[] words) {
    final Map<String, Object> options = new HashMap<>();
    for (int i = 0; i + 1 < words.length; i += 2)
      if (OPTIONS.contains(words[i])) options.put(words[i].substring(2), words[i + 1]);
    if (options.size() != OPTIONS.size() || words.length != 2 * OPTIONS.size())
      throw new IllegalArgumentException("needs each of " + String.join(", ", OPTIONS));
    return options;
  }

  // Runs in the hook. A JVM that a signal ends would exit with 143 whatever happened: halt() says how it went.
  private static void close(AnnotationConfigApplicationContext context) {
    int code = 1;
    try {
      context.close();
      code = 0;
    } finally {
      Runtime.getRuntime().halt(code);
    }
  }

  public static void main(String[] words) throws InterruptedException {
    System.setProperty("org.slf4j.simpleLogger.defaultLogLevel", "error");
    final Map<String, Object> options;
    try {
      options = parse(words);
    } catch (IllegalArgumentException error) {
      System.err.println("peer: " + error.getMessage());
      System.exit(USAGE);
      return;
    }
    final AnnotationConfigApplicationContext context = new AnnotationConfigApplicationContext();
    context.getEnvironment().getPropertySources().addFirst(new MapPropertySource("options", options));
    context.register(Configured.class, Worker.class);
    context.refresh();
    Runtime.getRuntime().addShutdownHook(new Thread(() -> close(context), "close"));
    System.out.println("ready");
    System.out.flush();
    new CountDownLatch(1).await();
  }
}
