package io.everseen;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;

/** Keys of a batch, one after another: key i is bytes offsets[i] up to offsets[i + 1]. */
final class Keys {
  private static final int MOST_BYTES = Integer.MAX_VALUE - 8; // of an array

  final byte[] bytes;
  final int[] offsets;

  private Keys(byte[] bytes, int[] offsets) {
    this.bytes = bytes;
    this.offsets = offsets;
  }

  static Keys of(byte[][] given) {
    byte[][] keys = given.clone(); // other threads may change it
    int[] offsets = new int[keys.length + 1];
    for (int i = 0; i < keys.length; ++i)
      offsets[i + 1] = end(offsets[i], Objects.requireNonNull(keys[i], "a key is null").length);
    byte[] bytes = new byte[offsets[keys.length]];
    for (int i = 0; i < keys.length; ++i) System.arraycopy(keys[i], 0, bytes, offsets[i], keys[i].length);
    return new Keys(bytes, offsets);
  }

  static Keys of(List<String> keys) {
    String[] texts = keys.toArray(new String[0]);
    int[] offsets = new int[texts.length + 1];
    byte[] bytes = new byte[Math.max(64, 16 * Math.min(texts.length, 1 << 24))];
    for (int i = 0; i < texts.length; ++i) {
      byte[] key = utf8(Objects.requireNonNull(texts[i], "a key is null"));
      offsets[i + 1] = end(offsets[i], key.length);
      if (offsets[i + 1] > bytes.length)
        bytes = Arrays.copyOf(bytes, (int) Math.min(MOST_BYTES, Math.max(2L * bytes.length, offsets[i + 1])));
      System.arraycopy(key, 0, bytes, offsets[i], key.length);
    }
    return new Keys(bytes, offsets);
  }

  /** @param offsets in the buffer, of which the library tests whether they are within it */
  static Keys of(ByteBuffer buffer, int[] offsets) {
    ByteBuffer whole = buffer.duplicate();
    whole.position(0);
    byte[] bytes = new byte[whole.remaining()];
    whole.get(bytes);
    return new Keys(bytes, offsets);
  }

  /** The bytes of a text. */
  static byte[] utf8(String text) {
    for (int i = 0; i < text.length(); ++i) {
      char unit = text.charAt(i);
      if (!Character.isSurrogate(unit)) continue;
      if (Character.isLowSurrogate(unit) || i + 1 == text.length() || !Character.isLowSurrogate(text.charAt(i + 1)))
        throw new InvalidException("the text has half of a surrogate pair at index " + i + ", so it is no UTF-8", null);
      ++i;
    }
    return text.getBytes(StandardCharsets.UTF_8);
  }

  /** A text for C, which ends with a zero byte. */
  static byte[] terminated(String what, String text) {
    if (Objects.requireNonNull(text, what).indexOf('\0') >= 0)
      throw new InvalidException("the " + what + " has a zero byte", null);
    byte[] bytes = utf8(text);
    return Arrays.copyOf(bytes, bytes.length + 1);
  }

  private static int end(int begin, int length) {
    if (length > MOST_BYTES - begin) throw new InvalidException("more than 2 GB of keys in one call; pass fewer", null);
    return begin + length;
  }
}
