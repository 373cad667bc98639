import static io.everseen.Verdict.FRESH;
import static io.everseen.Verdict.LATE;
import static io.everseen.Verdict.SEEN;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.everseen.DamagedException;
import io.everseen.EverseenException;
import io.everseen.Filter;
import io.everseen.FullException;
import io.everseen.InvalidException;
import io.everseen.NameTakenException;
import io.everseen.NotFoundException;
import io.everseen.Options;
import io.everseen.Verdict;
import io.everseen.Verdicts;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Random;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What a filter answers, on each store. */
final class FilterTest {
  @Test
  void aKeyIsFreshOnceWhateverItsType() {
    try (Filter f = Store.made()) {
      assertEquals(FRESH, f.add("x"));
      assertEquals(SEEN, f.add("x".getBytes(UTF_8)));
      assertTrue(f.mightContain("x"));
      assertFalse(f.mightContain("y"));
      assertEquals(List.of(FRESH, FRESH), Store.list(f.addAll(new long[] {42, Long.MIN_VALUE})));
      assertTrue(f.mightContain("42"));
      assertTrue(f.mightContain("-9223372036854775808"));
      assertEquals(FRESH, f.add(""));
      assertEquals(FRESH, f.add("a\0"));
      assertFalse(f.mightContain("a"));
    }
  }

  /** Modified UTF-8, which the virtual machine has inside, differs in these. */
  @Test
  void textsAreTheKeysOfTheirUtf8() {
    try (Filter f = Store.made()) {
      for (String text : List.of("é", "眼", "😀", "a\0b", "x😀\0")) {
        assertEquals(FRESH, f.add(text));
        assertTrue(f.mightContain(text.getBytes(UTF_8)));
      }
      assertEquals(5, f.addAll(List.of("é", "眼", "😀", "a\0b", "x😀\0")).count(SEEN));
    }
  }

  @Test
  void batchesAnswerAsASetWould() {
    Random random = new Random(1);
    Set<String> exact = new HashSet<>();
    try (Filter f = Store.made(new Options().capacity(100_000))) {
      for (int batch = 0; batch < 20; ++batch) {
        List<String> keys = new ArrayList<>();
        List<Verdict> expected = new ArrayList<>();
        for (int i = 0; i < 3_000; ++i) {
          keys.add(Integer.toString(random.nextInt(20_000)));
          expected.add(exact.add(keys.get(i)) ? FRESH : SEEN);
        }
        assertEquals(expected, Store.list(f.addAll(keys)));
      }
      assertEquals(exact.size(), f.checkAll(new ArrayList<>(exact)).count(SEEN));
    }
  }

  @Test
  void keysOfEachLayoutAreTheSame() {
    byte[][] arrays = {"a".getBytes(UTF_8), {}, "bc".getBytes(UTF_8), "a".getBytes(UTF_8)};
    byte[] together = "??abca".getBytes(UTF_8);
    int[] offsets = {2, 3, 3, 5, 6};
    ByteBuffer direct = ByteBuffer.allocateDirect(100).put(together);
    ByteBuffer part = ByteBuffer.wrap("..??abca..".getBytes(UTF_8), 2, 6).slice().asReadOnlyBuffer();
    List<Verdict> expected = List.of(FRESH, FRESH, FRESH, SEEN);
    try (Filter f = Store.made(); Filter g = Store.made(); Filter h = Store.made(); Filter i = Store.made()) {
      assertEquals(expected, Store.list(f.addAll(arrays)));
      assertEquals(expected, Store.list(g.addAll(direct, offsets)));
      assertEquals(expected, Store.list(h.addAll(part, offsets)));
      assertEquals(expected, Store.list(i.addAll(List.of("a", "", "bc", "a"))));
      for (Filter each : List.of(f, g, h, i)) {
        assertEquals(4, each.checkAll(arrays).count(SEEN));
        assertEquals(4, each.checkAll(direct, offsets).count(SEEN));
        assertEquals(4, each.checkAll(part, offsets).count(SEEN));
        assertEquals(FRESH, each.check("b"));
      }
    }
  }

  @Test
  void emptyBatchesHaveNoVerdicts() {
    try (Filter f = Store.made()) {
      assertEquals(0, f.addAll(List.<String>of()).size());
      assertEquals(0, f.addAll(new byte[0][]).size());
      assertEquals(0, f.addAll(new long[0]).size());
      assertEquals(0, f.addAll(ByteBuffer.allocateDirect(0), new int[] {0}).size());
      assertEquals(2, f.addAll(ByteBuffer.allocateDirect(0), new int[] {0, 0, 0}).size());
      assertTrue(f.mightContain(""));
    }
  }

  @Test
  void longKeysAreWhole() {
    byte[] key = new byte[1_000_000];
    try (Filter f = Store.made()) {
      assertEquals(FRESH, f.add(key));
      key[999_999] = 1;
      assertEquals(FRESH, f.add(key));
      assertEquals(List.of(SEEN), Store.list(f.checkAll(new byte[][] {key})));
    }
  }

  @Test
  void aWindowForgets() {
    long hour = Duration.ofHours(1).toMillis();
    long start = System.currentTimeMillis() - 40 * hour;
    try (Filter f = Store.made(new Options().window(Duration.ofHours(24)).slices(24))) {
      assertEquals(FRESH, f.add("a", start));
      assertEquals(SEEN, f.add("a", start + hour));
      assertEquals(List.of(SEEN, FRESH), Store.list(f.checkAll(List.of("a", "b"), start + 2 * hour)));
      Verdicts later = f.addAll(List.of("b", "c"), start + 30 * hour, start + 31 * hour);
      assertEquals(List.of(FRESH, FRESH), Store.list(later));
      assertEquals(FRESH, f.add("a", start + 31 * hour));
      assertEquals(LATE, f.add("d", start));
      assertEquals(LATE, f.check("d".getBytes(UTF_8), start));
      assertEquals(FRESH, f.add("now"));
      assertTrue(f.mightContain("now"));
      assertThrows(InvalidException.class, () -> f.add("e", System.currentTimeMillis() + 5 * hour));
      InvalidException refused = assertThrows(InvalidException.class, () -> f.addAll(List.of("a", "b", "c"), 1, 2));
      assertEquals(3, refused.verdicts().count(Verdict.UNKNOWN));
    }
  }

  @Test
  void aFullFilterKeepsTheVerdictsOfKeysThatItTook() {
    try (Filter f = Store.made(new Options().capacity(1000).growth(Options.Growth.REFUSE))) {
      FullException full = assertThrows(FullException.class, () -> f.addAll(Store.numbers(0, 5000)));
      Verdicts verdicts = full.verdicts();
      assertEquals(5000, verdicts.size());
      assertTrue(verdicts.count(FRESH) >= 900, verdicts.toString());
      List<String> keys = Store.numbers(0, 5000);
      Verdicts now = f.checkAll(keys);
      for (int i = 0; i < keys.size(); ++i) if (verdicts.isFresh(i)) assertEquals(SEEN, now.get(i));
      FullException again = assertThrows(FullException.class, () -> {
        for (int i = 5000; i < 9000; ++i) f.add(Integer.toString(i));
      });
      assertEquals(Verdict.UNKNOWN, again.verdicts().get(0));
    }
  }

  @Test
  void optionsAreThoseOfTheFilter() {
    Options options = new Options().capacity(5000).errorRate(1e-3).hash(Options.Hash.SIPHASH);
    try (Filter f = Store.made(options)) {
      f.addAll(Store.numbers(0, 100));
      assertEquals(5000, f.info().capacity());
      assertEquals(1e-3, f.info().errorRate());
      assertEquals(100, f.info().keys());
      assertEquals(0, f.info().windowMs());
      assertTrue(f.info().bytes() > 0 && f.info().errorRateNow() < 1e-3 && f.info().expectedFalseSeen() < 1);
      assertTrue(f.info().toJson().startsWith("{"));
      if (!Store.hasNames()) return;
      f.close();
      InvalidException differs = assertThrows(InvalidException.class,
          () -> Filter.openOrCreate(Store.URL, f.name(), new Options().capacity(6000)));
      assertTrue(differs.getMessage().contains("5"), differs.getMessage());
      Filter.openOrCreate(Store.URL, f.name(), new Options().errorRate(1e-3)).close();
    }
  }

  @Test
  void eachConstantOfAChoiceIsThatOfTheFilter() {
    assumeTrue(Store.hasNames());
    for (Options.Hash chosen : Options.Hash.values())
      for (Options.Hash other : Options.Hash.values())
        mustDiffer("hash", chosen, new Options().hash(chosen), other, new Options().hash(other));
    for (Options.Growth chosen : Options.Growth.values())
      for (Options.Growth other : Options.Growth.values())
        mustDiffer("growth", chosen, new Options().growth(chosen), other, new Options().growth(other));
  }

  /** Both are accepted for one filter only if they are the same; else the error has their names. */
  private static void mustDiffer(String option, Enum<?> chosen, Options has, Enum<?> other, Options asked) {
    String name = Store.freeName();
    Filter.create(Store.URL, name, has).close();
    if (chosen == other) {
      Filter.openOrCreate(Store.URL, name, asked).close();
      return;
    }
    String difference = option + " " + lower(chosen) + " instead of " + lower(other);
    InvalidException differs =
        assertThrows(InvalidException.class, () -> Filter.openOrCreate(Store.URL, name, asked));
    assertTrue(differs.getMessage().contains(difference), differs.getMessage());
  }

  private static String lower(Enum<?> constant) {
    return constant.name().toLowerCase(Locale.ROOT);
  }

  @Test
  void filtersAreFoundByName() {
    assumeTrue(Store.hasNames());
    String name = "\"clicks \\\"" + Store.freeName() + "\\n\"";
    assertThrows(NotFoundException.class, () -> Filter.open(Store.URL, name));
    try (Filter f = Filter.create(Store.URL, name, new Options())) {
      f.add("a");
      f.sync();
      assertEquals(1, f.info().keys());
    }
    assertThrows(NameTakenException.class, () -> Filter.create(Store.URL, name, new Options()));
    try (Filter f = Filter.openToRead(Store.URL, name)) {
      assertTrue(f.mightContain("a"));
      assertThrows(EverseenException.class, () -> f.add("b"));
    }
    Filter.drop(Store.URL, name);
    assertThrows(NotFoundException.class, () -> Filter.drop(Store.URL, name));
  }

  @Test
  void aFilterTravelsAsAFile(@TempDir Path folder) throws IOException {
    ByteArrayOutputStream stream = new ByteArrayOutputStream();
    Path file = folder.resolve("clicks.everseen");
    try (Filter f = Store.made(new Options().capacity(100_000))) {
      f.addAll(Store.numbers(0, 50_000));
      f.exportTo(stream);
      f.exportTo(file);
      f.exportTo(file);
      assertThrows(IOException.class, () -> f.exportTo(folder.resolve("none/clicks")));
      IOException broken = new IOException("the disk is full");
      assertEquals(broken, assertThrows(IOException.class, () -> f.exportTo(failing(broken))));
      assertEquals(FRESH, f.add("still in use"));
    }
    assertEquals(List.of(file), list(folder));
    assertEquals("rw-------", PosixFilePermissions.toString(Files.getPosixFilePermissions(file)));

    String store = "file:" + folder.resolve("store");
    byte[] whole = stream.toByteArray();
    byte[] changed = whole.clone();
    changed[whole.length / 2] ^= 1;
    byte[] shorter = Arrays.copyOf(whole, whole.length - 1);
    byte[] longer = Arrays.copyOf(whole, whole.length + 1);
    for (byte[] damaged : List.of(shorter, longer, changed, new byte[0]))
      assertThrows(DamagedException.class,
          () -> Filter.importFrom(store, "copy", new ByteArrayInputStream(damaged)));
    IOException torn = new IOException("the line is cut");
    assertEquals(torn, assertThrows(IOException.class, () -> Filter.importFrom(store, "copy", failingInput(torn))));
    assertThrows(IllegalStateException.class, () -> Filter.importFrom(store, "copy", lying()));
    assertThrows(NotFoundException.class, () -> Filter.open(store, "copy"));

    for (int i = 0; i < 2; ++i) {
      try (Filter copy = i == 0 ? Filter.importFrom(store, "copy", file)
          : Filter.importFrom(store, "copy", new ByteArrayInputStream(whole))) {
        assertEquals(50_000, copy.checkAll(Store.numbers(0, 50_000)).count(SEEN));
        assertEquals(FRESH, copy.add("another"));
      }
      assertThrows(NameTakenException.class, () -> Filter.importFrom(store, "copy", file));
      Filter.drop(store, "copy");
    }
  }

  @Test
  void siblingsAreMerged() {
    try (Filter whole = Filter.memory(new Options().capacity(1000)); Filter a = whole.sibling("mem:", "a");
        Filter b = whole.sibling("mem:", "b"); Filter stranger = Filter.memory(new Options().capacity(1000))) {
      a.addAll(Store.numbers(0, 60));
      b.addAll(Store.numbers(40, 100));
      whole.merge(a);
      whole.merge(b);
      assertEquals(100, whole.checkAll(Store.numbers(0, 100)).count(SEEN));
      assertThrows(InvalidException.class, () -> whole.merge(stranger));
      b.close();
      assertThrows(IllegalStateException.class, () -> whole.merge(b));
    }
  }

  @Test
  void aSiblingInMemoryIsMergedIntoFiles() {
    assumeTrue(Store.URL.startsWith("file:"));
    try (Filter whole = Store.made(new Options().capacity(1000).errorRate(1e-12).growth(Options.Growth.REFUSE))) {
      try (Filter part = whole.sibling("mem:", "part"); Filter more = whole.sibling("mem:", "more")) {
        part.addAll(Store.numbers(0, 900));
        more.addAll(Store.numbers(900, 1800));
        whole.merge(part);
        assertThrows(FullException.class, () -> whole.merge(more));
        assertEquals(900, whole.info().keys());
      }
    }
  }

  private static List<Path> list(Path folder) throws IOException {
    try (Stream<Path> all = Files.list(folder)) {
      return all.collect(Collectors.toList());
    }
  }

  private static OutputStream failing(IOException why) {
    return new OutputStream() {
      @Override
      public void write(int one) throws IOException {
        throw why;
      }
    };
  }

  private static InputStream failingInput(IOException why) {
    return new InputStream() {
      @Override
      public int read() throws IOException {
        throw why;
      }
    };
  }

  /** Says that it has read more bytes than there is room for. */
  private static InputStream lying() {
    return new InputStream() {
      @Override
      public int read() {
        return 0;
      }

      @Override
      public int readNBytes(byte[] into, int from, int length) {
        return length + 1;
      }
    };
  }
}
