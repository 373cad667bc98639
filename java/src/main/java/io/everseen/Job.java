package io.everseen;

import java.util.List;
import java.util.Objects;

/**
 * A job of a filter, made by {@link Filter#job}: events of it take effect once, whatever crashes.
 *
 * <p>An event has a source, such as "clicks/3", and a position in it, which ascends. Until it settles, a job gives an
 * event the verdict of its first claim, also after a crash:
 *
 * <pre>{@code
 * long next = job.settled("clicks/3");
 * for (Batch batch : readFrom("clicks/3", next)) {
 *   Verdicts verdicts = job.claim("clicks/3", batch.keys(), batch.positions());
 *   for (int i = 0; i < verdicts.size(); ++i) if (verdicts.isFresh(i)) store(batch.event(i));
 *   job.settle("clicks/3", batch.lastPosition() + 1);
 * }
 * }</pre>
 *
 * <p>What store() does may be repeated after a crash, unless it is stored together with the position from which to
 * continue.
 *
 * <p>Positions are 0 to 2^63 - 2; others are an {@link InvalidException}. A name of a source is as that of a filter.
 *
 * <p>Threads: any number, but claims of one source one at a time. The job may outlive its filter. To close it is as to
 * close a filter.
 */
public final class Job implements AutoCloseable {
  private final Handle handle;

  Job(long pointer) {
    handle = new Handle("job", pointer, Native::closeJob);
    handle.ownedBy(this);
  }

  /**
   * Claims events in ascending order of position: each keeps its verdict until it is settled. Perform the effects of
   * those that are {@link Verdict#FRESH}.
   *
   * @param times as for {@link Filter#addAll(byte[][], long...)}
   * @throws InvalidException if there is not one position for each key, or they do not ascend
   * @throws EverseenException after any other failure: claim the same events again before later ones of the source
   */
  public Verdicts claim(String source, byte[][] keys, long[] positions, long... times) {
    return claim(source, Keys.of(keys), positions, times);
  }

  /** As {@link #claim(String, byte[][], long[], long...)}. */
  public Verdicts claim(String source, List<String> keys, long[] positions, long... times) {
    return claim(source, Keys.of(keys), positions, times);
  }

  /**
   * Declares that the effects of all events of the source before this position are durable.
   *
   * <p>A position before one that was settled already changes nothing.
   *
   * @throws StorageException if the job has ended
   */
  public void settle(String source, long position) {
    byte[] from = Keys.terminated("source", source);
    must(position);
    handle.run(job -> Native.settle(job, from, position));
  }

  /** The position up to which a source is settled, where the program continues; 0 if nothing is settled yet. */
  public long settled(String source) {
    byte[] from = Keys.terminated("source", source);
    long position = handle.use(job -> Native.settled(job, from));
    must(position); // programs in other languages may settle more
    return position;
  }

  /** Closes the job, which stays with its filter. */
  @Override
  public void close() {
    handle.run();
  }

  private Verdicts claim(String source, Keys keys, long[] positions, long[] times) {
    byte[] from = Keys.terminated("source", source);
    long[] all = positions.clone();
    Objects.requireNonNull(times, "times");
    byte[] verdicts = new byte[keys.offsets.length - 1];
    if (all.length != verdicts.length)
      throw new InvalidException(all.length + " positions for " + verdicts.length + " keys", null);
    for (long position : all) must(position);
    handle.run(job -> Native.claim(job, from, keys.bytes, keys.offsets, all, times, verdicts));
    return new Verdicts(verdicts);
  }

  private static void must(long position) {
    if (position < 0 || position == Long.MAX_VALUE)
      throw new InvalidException("position " + Long.toUnsignedString(position) + "; it must be 0 to 2^63 - 2", null);
  }
}
