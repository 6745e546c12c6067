// requests (and commands, which have the same partitions) -> the rows of documents -> work, outputs, dead-letter.
import java.util.Map;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.apache.kafka.common.serialization.Serdes;
import org.apache.kafka.streams.Topology;
import org.apache.kafka.streams.state.KeyValueBytesStoreSupplier;
import org.apache.kafka.streams.state.KeyValueStore;
import org.apache.kafka.streams.state.StoreBuilder;
import org.apache.kafka.streams.state.Stores;

final class DocumentTopology {
  static final String STORE = "documents";
  static final String WORK = "work";
  static final String DEAD_LETTER = "dead-letter";
  private static final String REGISTER = "register";
  private static final String RELEASE = "release";
  private static final ByteArraySerializer WRITER = new ByteArraySerializer();
  private static final ByteArrayDeserializer READER = new ByteArrayDeserializer();

  private DocumentTopology() {}

  // The sink of a target.
  static String output(String target) { return "output." + target; }

  static Topology of(Arguments arguments) {
    final Targets targets = new Targets(arguments.targets());
    final Topology topology = new Topology();
    source(topology, arguments, "requests");
    topology.addProcessor(REGISTER, () -> new RequestProcessor(targets), "requests");
    topology.addStateStore(store(arguments), REGISTER);
    sink(topology, arguments, WORK, REGISTER);
    if (arguments.mode() == Arguments.Mode.INTAKE) {
      sink(topology, arguments, DEAD_LETTER, REGISTER);
      return topology;
    }
    source(topology, arguments, "commands");
    topology.addProcessor(RELEASE, () -> new ResultProcessor(targets), "commands");
    topology.connectProcessorAndStateStores(RELEASE, STORE);
    for (String target : targets.names()) sink(topology, arguments, output(target), RELEASE);
    sink(topology, arguments, DEAD_LETTER, REGISTER, RELEASE);
    return topology;
  }

  private static void source(Topology topology, Arguments arguments, String role) {
    topology.addSource(role, READER, READER, arguments.topic(role));
  }

  private static void sink(Topology topology, Arguments arguments, String role, String... parents) {
    topology.addSink(role, arguments.topic(role), WRITER, WRITER, parents);
  }

  // With changelog. The cache of Kafka Streams in front of it is a setting (--set peer.store.cache=true).
  private static StoreBuilder<KeyValueStore<byte[], byte[]>> store(Arguments arguments) {
    final KeyValueBytesStoreSupplier kind = arguments.store() == Arguments.Store.MEMORY
        ? Stores.inMemoryKeyValueStore(STORE)
        : Stores.persistentKeyValueStore(STORE);
    final var builder =
        Stores.keyValueStoreBuilder(kind, Serdes.ByteArray(), Serdes.ByteArray()).withLoggingEnabled(Map.of());
    final boolean cached = Boolean.parseBoolean(arguments.overrides().getProperty("peer.store.cache", "false"));
    return cached ? builder.withCachingEnabled() : builder.withCachingDisabled();
  }
}
