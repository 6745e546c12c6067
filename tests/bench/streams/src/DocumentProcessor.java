// What both processors share: the store, and the dead letter of a record that cannot be used.
//
// Invariant: a record is forwarded at most once, so its headers are edited in place, which saves a copy.
// Thread rule: a processor belongs to one task, a task to one thread.
import org.apache.kafka.streams.processor.api.Processor;
import org.apache.kafka.streams.processor.api.ProcessorContext;
import org.apache.kafka.streams.processor.api.Record;
import org.apache.kafka.streams.state.KeyValueStore;

abstract class DocumentProcessor implements Processor<byte[], byte[], byte[], byte[]> {
  private ProcessorContext<byte[], byte[]> context;
  private KeyValueStore<byte[], byte[]> rows;

  @Override
  public final void init(ProcessorContext<byte[], byte[]> newContext) {
    context = newContext;
    rows = newContext.getStateStore(DocumentTopology.STORE);
  }

  @Override
  public final void process(Record<byte[], byte[]> record) {
    try {
      if (record.key() == null) throw new Wire.BadRecord("missing_id");
      if (record.key().length == 0) throw new Wire.BadRecord("empty_id");
      decide(record);
    } catch (Wire.BadRecord bad) {
      Wire.replace(record.headers(), Wire.REASON, Wire.bytes(bad.getMessage()));
      forward(record, DocumentTopology.DEAD_LETTER);
    }
  }

  // Decides about a record whose key is an id; a BadRecord has changed neither row nor headers.
  abstract void decide(Record<byte[], byte[]> record) throws Wire.BadRecord;

  final Row row(byte[] id) {
    final byte[] bytes = rows.get(id);
    return bytes == null ? null : Row.of(bytes);
  }

  final void keep(byte[] id, Row row) { rows.put(id, row.bytes()); }

  final void forward(Record<byte[], byte[]> record, String sink) { context.forward(record, sink); }

  final long nowMs() { return context.currentSystemTimeMs(); }
}
