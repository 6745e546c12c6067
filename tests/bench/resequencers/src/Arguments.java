// The command line, checked. Plain values.
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;

record Arguments(Library library, String bootstrapServers, String application, int partitions, List<String> targets,
    long timeoutMs, int capacity) {
  enum Library { CAMEL, SPRING_INTEGRATION }

  // Throws IllegalArgumentException with one line that says what is wrong.
  static Arguments parse(String[] words) {
    final Map<String, String> options = new HashMap<>(Map.of("--timeout-ms", "10000", "--capacity", "100000"));
    for (int i = 0; i < words.length; i += 2) {
      if (i + 1 == words.length) throw new IllegalArgumentException(words[i] + " needs a value");
      options.put(words[i], words[i + 1]);
    }
    final String library = take(options, "--library").toUpperCase(Locale.ROOT).replace('-', '_');
    final Arguments arguments = new Arguments(Library.valueOf(library), take(options, "--bootstrap-servers"),
        take(options, "--application"), Integer.parseInt(take(options, "--partitions")),
        List.of(take(options, "--targets").split(",")), Long.parseLong(take(options, "--timeout-ms")),
        Integer.parseInt(take(options, "--capacity")));
    if (!options.isEmpty()) throw new IllegalArgumentException("unknown option " + options.keySet().iterator().next());
    if (arguments.partitions < 1 || arguments.timeoutMs < 1 || arguments.capacity < 1)
      throw new IllegalArgumentException("numbers begin with 1");
    return arguments;
  }

  private static String take(Map<String, String> options, String name) {
    final String value = options.remove(name);
    if (value == null) throw new IllegalArgumentException("no " + name);
    return value;
  }
}
