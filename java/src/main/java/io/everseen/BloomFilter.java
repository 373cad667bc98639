package io.everseen;

import java.util.Collection;
import java.util.Objects;
import java.util.function.Function;
import java.util.function.Predicate;

/**
 * A filter with the names of Guava's {@code BloomFilter}, for programs that change from one to the other.
 *
 * <pre>{@code
 * BloomFilter<UUID> seen =
 *     BloomFilter.of(Filter.memory(new Options().capacity(1_000_000)), id -> id.toString().getBytes(UTF_8));
 * if (seen.put(id)) firstVisit(id);
 * }</pre>
 *
 * <p>Threads, cost and exceptions: those of {@link Filter}. A filter that Guava itself has written is opened by its
 * name after {@code everseen import}.
 */
public final class BloomFilter<T> implements Predicate<T>, AutoCloseable {
  private final Filter filter;
  private final Function<? super T, byte[]> funnel;

  private BloomFilter(Filter filter, Function<? super T, byte[]> funnel) {
    this.filter = filter;
    this.funnel = funnel;
  }

  /**
   * @param filter which this object closes
   * @param funnel the key of an object
   * @throws InvalidException if the filter has a window: it could call a key late, and Guava has no word for that
   */
  public static <T> BloomFilter<T> of(Filter filter, Function<? super T, byte[]> funnel) {
    Objects.requireNonNull(funnel, "funnel");
    if (filter.info().windowMs() != 0)
      throw new InvalidException("the filter has a window, so that keys may be late; use Filter itself", null);
    return new BloomFilter<>(filter, funnel);
  }

  /**
   * Adds an object. True: it was certainly not added before, also by other threads or processes; false: it probably
   * was.
   */
  public boolean put(T object) {
    return filter.add(funnel.apply(object)) == Verdict.FRESH;
  }

  /** Adds all, by one call of the filter. Returns how many of them were certainly not added before. */
  public int putAll(Collection<? extends T> objects) {
    byte[][] keys = objects.stream().map(funnel).toArray(byte[][]::new);
    return filter.addAll(keys).count(Verdict.FRESH);
  }

  /** Whether an object was probably added. False is certain. */
  public boolean mightContain(T object) {
    return filter.mightContain(funnel.apply(object));
  }

  /** As {@link #mightContain}. */
  @Override
  public boolean test(T object) {
    return mightContain(object);
  }

  /** The share of new objects that it calls contained now. Cost: that of {@link Filter#info()}. */
  public double expectedFpp() {
    return filter.info().errorRateNow();
  }

  /** How many objects were added. Cost: that of {@link Filter#info()}. */
  public long approximateElementCount() {
    return filter.info().keys();
  }

  @Override
  public void close() {
    filter.close();
  }
}
