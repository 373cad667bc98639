import static io.everseen.Verdict.FRESH;
import static io.everseen.Verdict.SEEN;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.everseen.Filter;
import io.everseen.InvalidException;
import io.everseen.Job;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Jobs, on each store. */
final class JobTest {
  private static final List<String> KEYS = List.of("a", "b", "a");
  private static final long[] POSITIONS = {10, 11, 15};

  @Test
  void eventsKeepTheirVerdictsUntilTheyAreSettled() {
    try (Filter f = Store.made()) {
      Job first = f.job("count", "counts clicks");
      assertEquals(0, first.settled("clicks/0"));
      assertEquals(List.of(FRESH, FRESH, SEEN), Store.list(first.claim("clicks/0", KEYS, POSITIONS)));
      first.close();
      assertThrows(IllegalStateException.class, () -> first.settled("clicks/0"));
      try (Job job = f.job("count", "")) { // as if the process had crashed and another started
        assertEquals(List.of(FRESH, FRESH, SEEN), Store.list(job.claim("clicks/0", KEYS, POSITIONS)));
        assertEquals(List.of(FRESH, FRESH, SEEN),
            Store.list(job.claim("clicks/0", new byte[][] {{'a'}, {'b'}, {'a'}}, POSITIONS)));
        job.settle("clicks/0", 16);
        assertEquals(16, job.settled("clicks/0"));
        assertEquals(3, job.claim("clicks/0", KEYS, new long[] {16, 17, 18}).count(SEEN));
        assertEquals(0, job.claim("clicks/0", List.<String>of(), new long[0]).size());
      }
      f.endJob("count");
      assertThrows(InvalidException.class, () -> f.endJob("count"));
    }
  }

  @Test
  void wrongPositionsAreRefused() {
    try (Filter f = Store.made(); Job job = f.job("count", "")) {
      InvalidException fewer =
          assertThrows(InvalidException.class, () -> job.claim("s", KEYS, new long[] {1, 2}));
      assertEquals("2 positions for 3 keys", fewer.getMessage());
      for (long[] wrong : new long[][] {{3, 2, 1}, {1, 1, 2}, {-3, -2, -1}, {1, 2, Long.MAX_VALUE}, {-1, 0, 1}})
        assertThrows(InvalidException.class, () -> job.claim("s", KEYS, wrong));
      for (long wrong : new long[] {-1, Long.MIN_VALUE, Long.MAX_VALUE})
        assertThrows(InvalidException.class, () -> job.settle("s", wrong));
      assertThrows(NullPointerException.class, () -> job.claim(null, KEYS, POSITIONS));
      assertThrows(NullPointerException.class, () -> job.claim("s", KEYS, null));
      assertThrows(InvalidException.class, () -> job.claim("s", List.of("\ud800"), new long[] {1}));
      assertEquals(0, job.settled("s"));
      assertEquals(0, f.info().keys());
      job.settle("s", Long.MAX_VALUE - 1);
      assertEquals(Long.MAX_VALUE - 1, job.settled("s"));
    }
  }

  @Test
  void aJobOutlivesItsFilter() {
    Filter f = Store.made();
    try (Job job = f.job("count", "")) {
      f.close();
      assertTrue(job.claim("s", List.of("a"), new long[] {0}).isFresh(0));
      job.settle("s", 1);
    }
  }
}
