// What is known about a document, as the bytes in the store: epoch u32 | sequence u64 | pending targets u64 | version
// u64, highest byte first. A row without pending targets stays as the watermark that stops old results.
import java.nio.ByteBuffer;

record Row(int epoch, long sequence, long pending, long version) {
  private static final int BYTES = Integer.BYTES + 3 * Long.BYTES;

  static Row of(byte[] bytes) {
    final ByteBuffer buffer = ByteBuffer.wrap(bytes);
    return new Row(buffer.getInt(), buffer.getLong(), buffer.getLong(), buffer.getLong());
  }

  byte[] bytes() {
    return ByteBuffer.allocate(BYTES).putInt(epoch).putLong(sequence).putLong(pending).putLong(version).array();
  }

  // Below, at or above 0: this row's order against another one.
  int compareOrder(int otherEpoch, long otherSequence) {
    final int byEpoch = Integer.compareUnsigned(epoch, otherEpoch);
    return byEpoch != 0 ? byEpoch : Long.compareUnsigned(sequence, otherSequence);
  }

  Row served(long target, long newVersion) {
    return new Row(epoch, sequence, pending & ~target, newVersion);
  }
}
