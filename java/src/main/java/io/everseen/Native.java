package io.everseen;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.ByteBuffer;

/**
 * The functions of java/src/main/native. Pointers are valid, since {@link Handle} keeps them; texts end with a zero
 * byte. Each throws the exception of its failure.
 */
final class Native {
  static final int OPEN = 0;
  static final int OPEN_TO_READ = 1;
  static final int CREATE = 2;
  static final int OPEN_OR_CREATE = 3;

  static {
    Library.load();
  }

  private Native() {}

  static native long open(int how, byte[] url, byte[] name, long capacity, double errorRate, long windowMs, int slices,
      int growth, int hash, int judge, long lifetimeMs);

  static native void close(long filter);

  static native void drop(byte[] url, byte[] name);

  static native long sibling(long filter, byte[] url, byte[] name);

  static native void merge(long filter, long sibling);

  static native void sync(long filter);

  static native byte[] info(long filter);

  static native void exportTo(long filter, OutputStream out) throws IOException;

  static native void importFrom(byte[] url, byte[] name, InputStream in) throws IOException;

  /** @param times of none, one or all keys */
  static native int judgeOne(long filter, byte[] key, boolean adds, long[] times);

  /** @param verdicts one for each key, to be written */
  static native void judgeArray(long filter, byte[] bytes, int[] offsets, boolean adds, long[] times, byte[] verdicts);

  /** @param limit the number of bytes of the buffer that keys may be in */
  static native void judgeBuffer(long filter, ByteBuffer bytes, int limit, int[] offsets, boolean adds, long[] times,
      byte[] verdicts);

  static native void judgeIntegers(long filter, long[] keys, boolean adds, long[] times, byte[] verdicts);

  static native long openJob(long filter, byte[] name, byte[] description);

  static native void closeJob(long job);

  static native void endJob(long filter, byte[] name);

  static native void claim(long job, byte[] source, byte[] bytes, int[] offsets, long[] positions, long[] times,
      byte[] verdicts);

  static native void settle(long job, byte[] source, long position);

  static native long settled(long job, byte[] source);
}
