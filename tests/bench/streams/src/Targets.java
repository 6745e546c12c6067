// The names of the targets and the bits that stand for them: bit i is the i-th name of --targets.
import static java.nio.charset.StandardCharsets.UTF_8;

import java.util.Arrays;
import java.util.List;

final class Targets {
  static final int MAX = 64;

  private final List<String> names;
  private final byte[][] spelled;
  private final byte[] all;

  Targets(List<String> names) {
    this.names = names;
    spelled = names.stream().map(name -> name.getBytes(UTF_8)).toArray(byte[][] ::new);
    all = String.join(",", names).getBytes(UTF_8);
  }

  List<String> names() { return names; }

  // The list of all of them, as reseq-targets has it.
  byte[] all() { return all; }

  long allBits() { return names.size() == MAX ? -1L : (1L << names.size()) - 1; }

  // The number of a target, -1 if there is none of this name.
  int find(byte[] name) { return find(name, 0, name.length); }

  // The bits of a comma-separated list, 0 if one of its names is unknown.
  long parse(byte[] list) {
    if (Arrays.equals(list, all)) return allBits();
    long bits = 0;
    int begin = 0;
    for (int end = 0; end <= list.length; ++end) {
      if (end < list.length && list[end] != ',') continue;
      final int number = find(list, begin, end);
      if (number < 0) return 0;
      bits |= 1L << number;
      begin = end + 1;
    }
    return bits;
  }

  private int find(byte[] text, int begin, int end) {
    for (int i = 0; i < spelled.length; ++i) {
      if (Arrays.equals(spelled[i], 0, spelled[i].length, text, begin, end)) return i;
    }
    return -1;
  }
}
