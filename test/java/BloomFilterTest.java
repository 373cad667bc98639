import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.everseen.BloomFilter;
import io.everseen.Filter;
import io.everseen.InvalidException;
import io.everseen.Options;
import java.time.Duration;
import java.util.List;
import java.util.UUID;
import org.junit.jupiter.api.Test;

/** The names of Guava. */
final class BloomFilterTest {
  @Test
  void objectsAreKeysByTheirFunnel() {
    UUID a = new UUID(1, 2);
    UUID b = new UUID(3, 4);
    try (BloomFilter<UUID> seen = BloomFilter.of(Store.made(), id -> id.toString().getBytes(UTF_8))) {
      assertTrue(seen.put(a));
      assertFalse(seen.put(a));
      assertTrue(seen.mightContain(a));
      assertFalse(seen.test(b));
      assertEquals(2, seen.putAll(List.of(a, b, new UUID(5, 6), b)));
      assertEquals(3, seen.approximateElementCount());
      assertTrue(seen.expectedFpp() < 1e-6);
      assertThrows(NullPointerException.class, () -> seen.put(null));
    }
  }

  @Test
  void aFilterWithAWindowIsRefused() {
    try (Filter f = Store.made(new Options().window(Duration.ofHours(1)))) {
      assertThrows(InvalidException.class, () -> BloomFilter.of(f, (String key) -> key.getBytes(UTF_8)));
    }
  }
}
