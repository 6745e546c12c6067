// The headers of schemas/wire.md: their names, and numbers as ASCII digits, read without making strings of them.
import static java.nio.charset.StandardCharsets.UTF_8;

import org.apache.kafka.common.header.Header;
import org.apache.kafka.common.header.Headers;

final class Wire {
  static final String COMMAND = "reseq-command";
  static final String EPOCH = "reseq-epoch";
  static final String OP = "reseq-op";
  static final String REASON = "reseq-reason";
  static final String REPROCESS = "reseq-reprocess";
  static final String SEQUENCE = "reseq-seq";
  static final String TARGET = "reseq-target";
  static final String TARGETS = "reseq-targets";
  static final String VERSION = "reseq-version";
  static final byte[] DELETE = bytes("delete");
  static final byte[] ZERO = bytes("0");

  private static final long UNSIGNED_MAX_BEFORE_DIGIT = Long.divideUnsigned(-1L, 10);

  // A record that cannot be used; the message is the reason of its dead letter.
  static final class BadRecord extends Exception {
    private static final long serialVersionUID = 1;

    BadRecord(String reason) { super(reason, null, false, false); }
  }

  private Wire() {}

  static byte[] bytes(String text) { return text.getBytes(UTF_8); }

  // Null if there is no such header, or if it has no value.
  static byte[] value(Headers headers, String name) {
    final Header header = headers.lastHeader(name);
    return header == null ? null : header.value();
  }

  static long sequence(Headers headers) throws BadRecord {
    final byte[] digits = value(headers, SEQUENCE);
    if (digits == null) throw new BadRecord("missing_sequence");
    return parse(digits, "malformed_sequence");
  }

  static int epoch(Headers headers) throws BadRecord {
    final byte[] digits = value(headers, EPOCH);
    if (digits == null) return 0;
    final long epoch = parse(digits, "malformed_header");
    if (epoch >>> Integer.SIZE != 0) throw new BadRecord("malformed_header");
    return (int) epoch;
  }

  // Removes what concerned this program alone, and says that a record without payload is a delete.
  static void finish(Headers headers, byte[] payload) {
    headers.remove(COMMAND).remove(REPROCESS);
    if (payload == null && headers.lastHeader(OP) == null) headers.add(OP, DELETE);
  }

  static void replace(Headers headers, String name, byte[] value) { headers.remove(name).add(name, value); }

  private static long parse(byte[] digits, String reason) throws BadRecord {
    if (digits.length == 0) throw new BadRecord(reason);
    long number = 0;
    for (byte letter : digits) {
      final int digit = letter - '0';
      if (digit < 0 || digit > 9 || Long.compareUnsigned(number, UNSIGNED_MAX_BEFORE_DIGIT) > 0) {
        throw new BadRecord(reason);
      }
      number = number * 10 + digit;
      if (Long.compareUnsigned(number, digit) < 0) throw new BadRecord(reason);
    }
    return number;
  }
}
