import static io.everseen.Verdict.FRESH;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.everseen.BackendException;
import io.everseen.EverseenException;
import io.everseen.Filter;
import io.everseen.InvalidException;
import io.everseen.Options;
import io.everseen.StorageException;
import io.everseen.Verdict;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.function.Executable;

/** Wrong arguments are exceptions, and add no key. */
final class ArgumentsTest {
  @Test
  void nullsAreRefused() {
    try (Filter f = Store.made()) {
      List<Executable> calls = List.of(() -> f.add((String) null), () -> f.add((byte[]) null),
          () -> f.addAll((byte[][]) null), () -> f.addAll((List<String>) null), () -> f.addAll((long[]) null),
          () -> f.addAll(Arrays.asList("a", null)), () -> f.addAll(new byte[][] {{1}, null}),
          () -> f.addAll(null, new int[] {0}), () -> f.addAll(ByteBuffer.allocateDirect(1), null),
          () -> f.addAll(List.of("a"), (long[]) null), () -> f.addAll(new long[] {1}, (long[]) null),
          () -> f.addAll(ByteBuffer.allocateDirect(1), new int[] {0, 1}, (long[]) null), () -> f.merge(null),
          () -> f.sibling(null, "a"), () -> f.sibling("mem:", null), () -> f.job(null, ""), () -> f.job("a", null),
          () -> f.endJob(null), () -> f.exportTo((java.io.OutputStream) null), () -> Filter.open(null, "a"),
          () -> Filter.open(Store.URL, null), () -> Filter.create(Store.URL, "a", null), () -> Filter.drop(null, "a"),
          () -> Filter.importFrom(Store.URL, "a", (java.io.InputStream) null), () -> new Options().growth(null));
      for (Executable call : calls) assertThrows(NullPointerException.class, call);
      assertEquals(0, f.info().keys());
    }
  }

  @Test
  void halvesOfSurrogatePairsAreRefused() {
    try (Filter f = Store.made()) {
      for (String text : List.of("\ud83d", "a\ude00", "\ude00\ud83d", "\ud83d\ud83d\ude00")) {
        assertThrows(InvalidException.class, () -> f.add(text));
        assertThrows(InvalidException.class, () -> f.addAll(List.of("ok", text)));
        assertThrows(InvalidException.class, () -> Filter.open(Store.URL, text));
      }
      assertEquals(FRESH, f.add("ok"));
      assertFalse(f.mightContain("?"));
    }
  }

  @Test
  void offsetsAreWithinTheBuffer() {
    ByteBuffer direct = ByteBuffer.allocateDirect(10).limit(8);
    try (Filter f = Store.made()) {
      for (ByteBuffer buffer : List.of(direct, ByteBuffer.allocate(10).limit(8)))
        for (int[] wrong : new int[][] {{}, {0, 9}, {-1, 3}, {0, 5, 4}, {5, 3, 8}, {0, Integer.MAX_VALUE, 8},
            {0, 8, Integer.MAX_VALUE}, {Integer.MIN_VALUE, 0}, {9, 9}, {0, -1, Integer.MIN_VALUE}}) {
          assertThrows(InvalidException.class, () -> f.addAll(buffer, wrong), Arrays.toString(wrong));
          assertThrows(InvalidException.class, () -> f.checkAll(buffer, wrong), Arrays.toString(wrong));
        }
      assertEquals(0, f.info().keys());
      assertEquals(2, f.addAll(direct, new int[] {0, 8, 8}).count(FRESH));
    }
  }

  @Test
  void listsWithOtherObjectsAreRefused() {
    @SuppressWarnings({"unchecked", "rawtypes"})
    List<String> disguised = (List) List.of("a", 42);
    try (Filter f = Store.made()) {
      assertThrows(ArrayStoreException.class, () -> f.addAll(disguised));
      assertEquals(0, f.info().keys());
    }
  }

  @Test
  void optionsAreWithinTheirLimits() {
    List<Executable> calls = List.of(() -> new Options().capacity(0), () -> new Options().capacity(-1),
        () -> new Options().capacity((1L << 48) + 1), () -> new Options().errorRate(0),
        () -> new Options().errorRate(Double.NaN), () -> new Options().errorRate(-1), () -> new Options().errorRate(1),
        () -> new Options().window(Duration.ZERO), () -> new Options().window(Duration.ofNanos(1)),
        () -> new Options().window(Duration.ofSeconds(Long.MAX_VALUE)),
        () -> new Options().lifetime(Duration.ofDays(-1)), () -> new Options().slices(0), () -> new Options().slices(1001));
    for (Executable call : calls) assertThrows(InvalidException.class, call);
    assertThrows(InvalidException.class, () -> Store.made(new Options().slices(5)).close()); // of no window
  }

  @Test
  void urlsAndNamesAreValid() {
    assertThrows(InvalidException.class, () -> Filter.open("nowhere:", "a"));
    assertThrows(InvalidException.class, () -> Filter.open("mem:\0", "a"));
    assertThrows(InvalidException.class, () -> Filter.create(Store.URL, "", new Options()));
    assertThrows(InvalidException.class, () -> Filter.open(Store.URL, "a\0b"));
    assertThrows(InvalidException.class, () -> Filter.create(Store.URL, "x".repeat(1025), new Options()));
    assertThrows(BackendException.class, () -> Filter.open("unix:/nowhere/redis.sock?timeout=100ms", "a"));
    assertThrows(StorageException.class, () -> Filter.create("file:/proc/nowhere", "a", new Options()));
  }

  @Test
  void aClosedFilterIsNotUsed() {
    Filter f = Store.made();
    f.close();
    f.close();
    List<Executable> calls = List.of(() -> f.add("a"), () -> f.check(new byte[1]), () -> f.addAll(List.of("a")),
        () -> f.addAll(new byte[][] {{1}}), () -> f.addAll(new long[] {1}),
        () -> f.addAll(ByteBuffer.allocateDirect(1), new int[] {0, 1}), f::info, f::sync, () -> f.job("a", ""),
        () -> f.endJob("a"), () -> f.sibling("mem:", "a"), () -> f.merge(f),
        () -> f.exportTo(java.io.OutputStream.nullOutputStream()));
    for (Executable call : calls) {
      IllegalStateException closed = assertThrows(IllegalStateException.class, call);
      assertEquals("the filter is closed", closed.getMessage());
    }
  }

  @Test
  void exceptionsSayWhatToDoInWholeUnicode() {
    EverseenException unknown = assertThrows(EverseenException.class, () -> Filter.open("mem:", "眼睛😀"));
    assertTrue(unknown.getMessage().contains("眼睛😀"), unknown.getMessage());
    assertEquals(null, unknown.verdicts());
    try (Filter f = Store.made()) {
      assertEquals("[FRESH, SEEN]", f.addAll(List.of("a", "a")).toString());
      assertEquals(List.of(Verdict.SEEN), Store.list(f.checkAll(List.of("a"))));
      assertThrows(IndexOutOfBoundsException.class, () -> f.addAll(List.of("a")).get(1));
    }
  }
}
