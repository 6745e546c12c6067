// Requests: registers what is newer than all that is known of its document and passes it on to work; drops the rest.
import org.apache.kafka.common.header.Headers;
import org.apache.kafka.streams.processor.api.Record;

final class RequestProcessor extends DocumentProcessor {
  private final Targets targets;

  RequestProcessor(Targets targets) { this.targets = targets; }

  @Override
  void decide(Record<byte[], byte[]> record) throws Wire.BadRecord {
    final Headers headers = record.headers();
    final long sequence = Wire.sequence(headers);
    final int epoch = Wire.epoch(headers);
    final byte[] list = Wire.value(headers, Wire.TARGETS);
    final long wanted = list == null ? targets.allBits() : targets.parse(list);
    if (wanted == 0) throw new Wire.BadRecord("unknown_target");

    final Row known = row(record.key());
    if (known != null && known.compareOrder(epoch, sequence) >= 0) return; // superseded, or a duplicate
    keep(record.key(), new Row(epoch, sequence, wanted, known == null ? 0 : known.version()));

    headers.remove(Wire.VERSION);
    Wire.finish(headers, record.value());
    if (headers.lastHeader(Wire.EPOCH) == null) headers.add(Wire.EPOCH, Wire.ZERO);
    if (list == null) Wire.replace(headers, Wire.TARGETS, targets.all());
    forward(record, DocumentTopology.WORK);
  }
}
