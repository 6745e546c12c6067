// The command line, checked. Plain values.
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Properties;

record Arguments(String bootstrapServers, String application, Mode mode, Store store, String stateDir,
    List<String> targets, int threads, Properties overrides) {
  enum Mode { INTAKE, LIFE }

  enum Store { ROCKSDB, MEMORY }

  // Throws IllegalArgumentException with one line that says what is wrong.
  static Arguments parse(String[] words) {
    final Map<String, String> options = new HashMap<>(Map.of("--threads", "1"));
    final Properties overrides = new Properties();
    for (int i = 0; i < words.length; i += 2) {
      if (i + 1 == words.length) throw new IllegalArgumentException(words[i] + " needs a value");
      if (words[i].equals("--set"))
        override(words[i + 1], overrides);
      else
        options.put(words[i], words[i + 1]);
    }
    final Arguments arguments = new Arguments(take(options, "--bootstrap-servers"), take(options, "--application"),
        Mode.valueOf(word(options, "--mode")), Store.valueOf(word(options, "--store")), take(options, "--state"),
        List.of(take(options, "--targets").split(",")), Integer.parseInt(take(options, "--threads")), overrides);
    if (!options.isEmpty()) throw new IllegalArgumentException("unknown option " + options.keySet().iterator().next());
    if (arguments.targets.size() > Targets.MAX) throw new IllegalArgumentException("at most 64 targets");
    return arguments;
  }

  String topic(String role) {
    return application + "." + role;
  }

  private static String take(Map<String, String> options, String name) {
    final String value = options.remove(name);
    if (value == null) throw new IllegalArgumentException("no " + name);
    return value;
  }

  // As the name of a constant.
  private static String word(Map<String, String> options, String name) {
    return take(options, name).toUpperCase(Locale.ROOT);
  }

  private static void override(String pair, Properties overrides) {
    final String[] parts = pair.split("=", 2);
    if (parts.length < 2) throw new IllegalArgumentException("--set needs KEY=VALUE, not " + pair);
    overrides.setProperty(parts[0], parts[1]);
  }
}
