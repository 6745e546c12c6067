// The peer with resequencers of Java: what its user would write with Camel or Spring Integration.
//   java -cp 'target/classes:target/jars/*' Resequencers --library camel|spring-integration --bootstrap-servers S
//     --application ID --partitions N --targets a,b [--timeout-ms MS] [--capacity RECORDS]
// Reads ID.commands as a member of the group ID and writes each record to ID.output.TARGET (its header reseq-target)
// behind all whose header reseq-seq is smaller: 1, 2, 3.. for each document. What waits longer than the timeout (10 s)
// is written all the same. `capacity`: how many Camel keeps for a target and partition (100,000); the store of Spring
// Integration has no such limit. Prints "ready" when it runs. SIGTERM ends it with code 0; when something waits still,
// after the timeout.
//
// What it leaves out: all that the resequencer does but order. It keeps nothing on disk: a kill loses what waits.
//
// Thread rule: main() reads and hands over; the hook of the JVM stops it and waits.
import java.util.HashMap;
import java.util.Map;

public final class Resequencers {
  private static final int USAGE = 64; // EX_USAGE

  private Resequencers() {}

  private static Resequencer open(String target, Arguments arguments, Outputs outputs) throws Exception {
    return switch (arguments.library()) {
      case CAMEL -> new CamelResequencer(target, arguments, outputs);
      case SPRING_INTEGRATION -> new SpringResequencer(target, arguments, outputs);
    };
  }

  private static void run(Arguments arguments) throws Exception {
    try (Outputs outputs = new Outputs(arguments)) {
      final Map<String, Resequencer> resequencers = new HashMap<>();
      for (String target : arguments.targets()) resequencers.put(target, open(target, arguments, outputs));
      final Intake intake = new Intake(arguments, resequencers, outputs);
      final Thread reader = Thread.currentThread();
      Runtime.getRuntime().addShutdownHook(new Thread(() -> stop(intake, reader), "stop"));
      System.out.println("ready");
      System.out.flush();
      intake.run();
      for (Resequencer resequencer : resequencers.values()) resequencer.close();
    }
  }

  // Runs in the hook, and keeps the JVM until main() says how it went.
  private static void stop(Intake intake, Thread reader) {
    intake.stop();
    try {
      reader.join();
    } catch (InterruptedException error) {
      reader.interrupt();
    }
  }

  public static void main(String[] words) {
    System.setProperty("org.slf4j.simpleLogger.defaultLogLevel", "error");
    final Arguments arguments;
    try {
      arguments = Arguments.parse(words);
    } catch (IllegalArgumentException error) {
      System.err.println("peer: " + error.getMessage());
      System.exit(USAGE);
      return;
    }
    int code = 1;
    try {
      run(arguments);
      code = 0;
    } catch (Exception error) {
      System.err.println("peer: " + error + (error.getCause() == null ? "" : ": " + error.getCause()));
    }
    Runtime.getRuntime().halt(code); // a JVM that a signal ends would exit with 143 whatever happened
  }
}
