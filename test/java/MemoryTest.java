import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.everseen.EverseenException;
import io.everseen.Filter;
import io.everseen.Options;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** The memory of the process is that of its filters, whatever goes through them. */
final class MemoryTest {
  private static final int KEYS = 1_000_000;

  private static long residentMegabytes() throws IOException {
    for (String line : Files.readAllLines(Path.of("/proc/self/status")))
      if (line.startsWith("VmRSS:")) return Long.parseLong(line.replaceAll("[^0-9]", "")) / 1024;
    throw new IOException("no VmRSS");
  }

  /** Does work three times to fill caches, then more times, after which there is at most 60 MB more than before. */
  private static void mustNotGrow(int times, Work work) throws Exception {
    for (int i = 0; i < 3; ++i) work.run();
    long before = residentMegabytes();
    for (int i = 0; i < times; ++i) work.run();
    long after = residentMegabytes();
    for (int tries = 0; after > before + 60 && tries < 600; ++tries) { // until the cleaner, a thread, had its turn
      System.gc();
      Thread.sleep(100);
      after = residentMegabytes();
    }
    assertTrue(after <= before + 60, before + " MB before, " + after + " MB after");
  }

  private interface Work {
    void run() throws Exception;
  }

  @Test
  void aMillionKeysPerCall() throws Exception {
    List<String> texts = Store.numbers(0, KEYS);
    byte[][] arrays = new byte[KEYS][];
    for (int i = 0; i < KEYS; ++i) arrays[i] = texts.get(i).getBytes();
    ByteBuffer direct = ByteBuffer.allocateDirect(KEYS * 7);
    int[] offsets = new int[KEYS + 1];
    for (int i = 0; i < KEYS; ++i) offsets[i + 1] = direct.put(arrays[i]).position();
    try (Filter f = Filter.memory(new Options().capacity(KEYS))) {
      mustNotGrow(15, () -> { // 24 MB or more for each call whose copies are kept
        assertEquals(KEYS, f.addAll(arrays).size());
        assertEquals(KEYS, f.addAll(texts).size());
        assertEquals(KEYS, f.addAll(direct, offsets).size());
      });
    }
  }

  @Test
  void keysOneByOne() throws Exception {
    byte[] longer = new byte[300];
    try (Filter f = Filter.memory(new Options())) {
      mustNotGrow(5, () -> {
        for (int i = 0; i < 200_000; ++i) f.add(longer); // 60 MB if they are kept
      });
    }
  }

  @Test
  void filtersThatAreClosed() throws Exception {
    mustNotGrow(5, () -> {
      for (int i = 0; i < 100; ++i)
        try (Filter f = Filter.memory(new Options().capacity(KEYS))) {
          f.addAll(List.of("a", "b"));
          f.job("count", "").close();
        }
    });
  }

  /** They are closed once they are unreachable. */
  @Test
  void filtersThatAreForgotten() throws Exception {
    mustNotGrow(10, () -> {
      for (int i = 0; i < 30; ++i) Filter.memory(new Options().capacity(KEYS)).addAll(Store.numbers(0, 10_000));
      System.gc();
    });
  }

  @Test
  void failures() throws Exception {
    List<String> texts = Store.numbers(0, 100_000);
    try (Filter f = Filter.memory(new Options().capacity(1000).growth(Options.Growth.REFUSE))) {
      mustNotGrow(50, () -> {
        EverseenException full = assertThrows(EverseenException.class, () -> f.addAll(texts));
        assertEquals(texts.size(), full.verdicts().size());
        assertThrows(EverseenException.class, () -> f.addAll(ByteBuffer.allocateDirect(1000), new int[] {0, 2000}));
        assertThrows(IOException.class, () -> f.exportTo(new OutputStream() {
          @Override
          public void write(int one) throws IOException {
            throw new IOException("full");
          }
        }));
      });
    }
  }
}
