// A record on its way through a resequencer: what it is ordered by, taken out of it once. A plain value.
import java.nio.charset.StandardCharsets;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.common.header.Header;

record Item(String document, int sequence, ConsumerRecord<byte[], byte[]> record) {
  static Item of(ConsumerRecord<byte[], byte[]> record) {
    if (record.key() == null) throw new IllegalArgumentException(record.topic() + ": a record without a key");
    // Spring Integration has no numbers above those of an int.
    final int sequence = Integer.parseInt(header(record, "reseq-seq"));
    return new Item(new String(record.key(), StandardCharsets.UTF_8), sequence, record);
  }

  static String header(ConsumerRecord<byte[], byte[]> record, String name) {
    final Header header = record.headers().lastHeader(name);
    if (header == null) throw new IllegalArgumentException(record.topic() + ": a record without " + name);
    return new String(header.value(), StandardCharsets.UTF_8);
  }
}
