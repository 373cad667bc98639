import com.google.common.hash.BloomFilter;
import com.google.common.hash.Funnels;
import io.everseen.Filter;
import io.everseen.Options;
import io.everseen.Verdict;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.SplittableRandom;
import java.util.function.ToIntBiFunction;
import java.util.function.ToIntFunction;

/**
 * What does a key cost from Java, beside Guava's BloomFilter? In memory, a million keys of 6 to 12 bytes per call, half
 * of them repeats; one thread, filters for 10 million keys at one error in a million. CPU time of the calling
 * thread, so that a busy machine matters less; the garbage collector's is not in it. Answers are checked.
 *
 * <pre>java -cp build/release/everseen-0.1.0.jar:/usr/share/java/guava.jar bench/JavaBench.java</pre>
 */
final class JavaBench {
  private static final int KEYS = 1_000_000;
  private static final int ROUNDS = 10;

  private static final class Batch {
    final List<String> texts = new ArrayList<>();
    final byte[][] arrays = new byte[KEYS][];
    final ByteBuffer direct = ByteBuffer.allocateDirect(KEYS * 12);
    final int[] offsets = new int[KEYS + 1];

    Batch(long seed) {
      SplittableRandom random = new SplittableRandom(seed);
      for (int i = 0; i < KEYS; ++i) {
        String text = i % 2 == 1 ? texts.get(i - 1) : Long.toString(random.nextLong(100_000, 1_000_000_000_000L));
        texts.add(new String(text)); // a text of its own, as a program reads it
        arrays[i] = text.getBytes(StandardCharsets.UTF_8);
        offsets[i + 1] = direct.put(arrays[i]).position();
      }
    }
  }

  private static final ThreadMXBean CPU = ManagementFactory.getThreadMXBean();
  private static final Options OPTIONS = new Options().capacity(10_000_000).errorRate(1e-6);

  /** The median of the rounds after the first two, in millions of keys per second of CPU of this thread. */
  private static double measured(String name, ToIntFunction<Batch> add) {
    double[] speeds = new double[ROUNDS];
    for (int round = 0; round < ROUNDS; ++round) {
      Batch batch = new Batch(round);
      long start = CPU.getCurrentThreadCpuTime();
      int fresh = add.applyAsInt(batch);
      speeds[round] = KEYS * 1e3 / (CPU.getCurrentThreadCpuTime() - start);
      if (fresh > KEYS / 2 || fresh < KEYS / 2 - 100) throw new AssertionError(name + ": " + fresh + " fresh keys");
    }
    double[] warm = Arrays.copyOfRange(speeds, 2, ROUNDS);
    Arrays.sort(warm);
    return warm[warm.length / 2];
  }

  private static double everseen(String name, ToIntBiFunction<Filter, Batch> add) {
    try (Filter filter = Filter.memory(OPTIONS)) {
      return measured(name, batch -> add.applyAsInt(filter, batch));
    }
  }

  public static void main(String[] words) {
    BloomFilter<byte[]> guava = BloomFilter.create(Funnels.byteArrayFunnel(), 10_000_000, 1e-6);
    double peer = measured("Guava", batch -> {
      int fresh = 0;
      for (byte[] key : batch.arrays) if (guava.put(key)) ++fresh;
      return fresh;
    });
    System.out.printf("%-50s %5.1f M keys per CPU second%n", "Guava, put(byte[])", peer);
    print("everseen, add(byte[])", peer, everseen("one by one", (filter, batch) -> {
      int fresh = 0;
      for (byte[] key : batch.arrays) if (filter.add(key) == Verdict.FRESH) ++fresh;
      return fresh;
    }));
    print("everseen, addAll(List<String>)", peer,
        everseen("texts", (filter, batch) -> filter.addAll(batch.texts).count(Verdict.FRESH)));
    print("everseen, addAll(byte[][])", peer,
        everseen("arrays", (filter, batch) -> filter.addAll(batch.arrays).count(Verdict.FRESH)));
    print("everseen, addAll(direct ByteBuffer, offsets)", peer,
        everseen("a buffer", (filter, batch) -> filter.addAll(batch.direct, batch.offsets).count(Verdict.FRESH)));
  }

  private static void print(String name, double peer, double speed) {
    System.out.printf("%-50s %5.1f M keys per CPU second, %.1f times Guava%n", name, speed, speed / peer);
  }
}
