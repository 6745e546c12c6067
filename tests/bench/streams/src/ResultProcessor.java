// Results: a SEQUENCE passes to the output of its target, with a new version, if it belongs to the newest request and
// the target still waits for it.
import java.util.Arrays;
import org.apache.kafka.common.header.Headers;
import org.apache.kafka.streams.processor.api.Record;

final class ResultProcessor extends DocumentProcessor {
  private static final byte[] SEQUENCE_COMMAND = Wire.bytes("sequence");
  private static final int CLOCK_SHIFT = 16;

  private final Targets targets;
  private final String[] sinks;
  private long lastVersion = 0;

  ResultProcessor(Targets targets) {
    this.targets = targets;
    sinks = targets.names().stream().map(DocumentTopology::output).toArray(String[] ::new);
  }

  @Override
  void decide(Record<byte[], byte[]> record) throws Wire.BadRecord {
    final Headers headers = record.headers();
    if (!Arrays.equals(Wire.value(headers, Wire.COMMAND), SEQUENCE_COMMAND)) {
      throw new Wire.BadRecord("unknown_command");
    }
    final long sequence = Wire.sequence(headers);
    final int epoch = Wire.epoch(headers);
    final int target = targetOf(headers);

    final Row known = row(record.key());
    final int order = known == null ? -1 : known.compareOrder(epoch, sequence);
    if (order < 0) throw new Wire.BadRecord("unregistered");
    final long bit = 1L << target;
    if (order > 0 || (known.pending() & bit) == 0) return; // superseded, or a duplicate
    final Row served = known.served(bit, nextVersion(known.version()));
    keep(record.key(), served);

    Wire.finish(headers, record.value());
    Wire.replace(headers, Wire.VERSION, Wire.bytes(Long.toString(served.version())));
    forward(record, sinks[target]);
  }

  private int targetOf(Headers headers) throws Wire.BadRecord {
    final byte[] name = Wire.value(headers, Wire.TARGET);
    if (name == null) throw new Wire.BadRecord("missing_target");
    final int number = targets.find(name);
    if (number < 0) throw new Wire.BadRecord("unknown_target");
    return number;
  }

  // Rises within the partition while this task lives, and within the document for ever.
  private long nextVersion(long version) {
    lastVersion = Math.max(Math.max(lastVersion, version), nowMs() << CLOCK_SHIFT) + 1;
    return lastVersion;
  }
}
