package io.everseen;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.ByteBuffer;
import java.nio.channels.Channels;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.util.List;
import java.util.Objects;

/**
 * A named set of keys, which answers whether a key was added before.
 *
 * <p>Names have 1 to 1024 bytes in UTF-8. If a name begins with a double quote, it must also end with one, and \n, \r,
 * \t, \", \\ and \xHH between them are escapes.
 *
 * <p>Times are in milliseconds since 1970, and matter to a filter with a window alone. {@code times} of a batch are
 * none: the current time; one: of all keys; or one for each key. A time more than one slice ahead of the clock is an
 * {@link InvalidException}, and no key is judged.
 *
 * <p>If a batch fails, its {@link EverseenException} has the verdicts of the keys that were judged.
 *
 * <p>Threads: any number may use one filter concurrently. {@link #close()} returns at once; calls that other threads
 * are in the middle of end as usual, and later ones throw {@link IllegalStateException}. A filter that was not closed
 * is closed when it becomes unreachable.
 */
public final class Filter implements AutoCloseable {
  private static final long[] NOW = {};

  private final Handle handle;
  private final String name;

  private Filter(long pointer, String name) {
    this.name = name;
    handle = new Handle("filter", pointer, Native::close);
    handle.ownedBy(this);
  }

  // ---- to open and create

  /**
   * Opens a filter to add and check keys.
   *
   * @throws NotFoundException if there is none; the message has the nearest name
   * @throws InvalidException if the URL or the name is invalid
   * @throws StorageException if files cannot be read or written, or another process is writing to them
   * @throws BackendException if a server does not answer
   * @throws DamagedException if what is stored is damaged
   */
  public static Filter open(String url, String name) {
    return opened(Native.OPEN, url, name, new Options());
  }

  /** The same, for checks only. A filter in files may have any number of such readers besides its one writer. */
  public static Filter openToRead(String url, String name) {
    return opened(Native.OPEN_TO_READ, url, name, new Options());
  }

  /**
   * Creates a filter.
   *
   * @throws NameTakenException if there is one; and as {@link #open}
   */
  public static Filter create(String url, String name, Options options) {
    return opened(Native.CREATE, url, name, options);
  }

  /**
   * Opens the filter of this name, or creates it. Processes that call this concurrently all get the same filter.
   *
   * @param options if the filter exists, those that are set must be its own, except for the judge and the lifetime
   * @throws InvalidException if they are not; the message names each difference; and as {@link #open}
   */
  public static Filter openOrCreate(String url, String name, Options options) {
    return opened(Native.OPEN_OR_CREATE, url, name, options);
  }

  /** A filter in the memory of this process, which ends with it. */
  public static Filter memory(Options options) {
    return opened(Native.CREATE, "mem:", "memory", options);
  }

  /** Removes a filter and all its keys. Throws as {@link #open}. */
  public static void drop(String url, String name) {
    Native.drop(Keys.terminated("url", url), Keys.terminated("name", name));
  }

  private static Filter opened(int how, String url, String name, Options options) {
    long pointer = Native.open(how, Keys.terminated("url", url), Keys.terminated("name", name), options.capacity,
        options.errorRate, options.windowMs, options.slices, options.growth, options.hash, options.judge,
        options.lifetimeMs);
    return new Filter(pointer, name);
  }

  // ---- single keys

  /** Adds a key, and returns what it was before. */
  public Verdict add(byte[] key) {
    return one(key, true, NOW);
  }

  /** As {@link #add(byte[])}, of the UTF-8 of a text. */
  public Verdict add(String key) {
    return one(Keys.utf8(key), true, NOW);
  }

  /** As {@link #add(byte[])}, of a time in ms since 1970. */
  public Verdict add(byte[] key, long time) {
    return one(key, true, new long[] {time});
  }

  /** As {@link #add(byte[], long)}. */
  public Verdict add(String key, long time) {
    return one(Keys.utf8(key), true, new long[] {time});
  }

  /** As {@link #add(byte[])}, but adds nothing. */
  public Verdict check(byte[] key) {
    return one(key, false, NOW);
  }

  /** As {@link #check(byte[])}. */
  public Verdict check(String key) {
    return one(Keys.utf8(key), false, NOW);
  }

  /** As {@link #check(byte[])}, of a time in ms since 1970. */
  public Verdict check(byte[] key, long time) {
    return one(key, false, new long[] {time});
  }

  /** As {@link #check(byte[], long)}. */
  public Verdict check(String key, long time) {
    return one(Keys.utf8(key), false, new long[] {time});
  }

  /** Whether a key was probably added. False is certain. Adds nothing. */
  public boolean mightContain(byte[] key) {
    return one(key, false, NOW) == Verdict.SEEN;
  }

  /** As {@link #mightContain(byte[])}. */
  public boolean mightContain(String key) {
    return one(Keys.utf8(key), false, NOW) == Verdict.SEEN;
  }

  private Verdict one(byte[] key, boolean adds, long[] times) {
    Objects.requireNonNull(key, "key");
    return handle.use(filter -> Verdict.of(Native.judgeOne(filter, key, adds, times)));
  }

  // ---- batches

  /** Adds keys. If a key occurs twice, its first occurrence is the fresh one. */
  public Verdicts addAll(byte[][] keys, long... times) {
    return all(Keys.of(keys), true, times);
  }

  /** As {@link #addAll(byte[][], long...)}. */
  public Verdicts addAll(List<String> keys, long... times) {
    return all(Keys.of(keys), true, times);
  }

  /**
   * As {@link #addAll(byte[][], long...)}, of keys in one buffer. Those in a direct buffer are not copied: its bytes
   * must not be freed during the call.
   *
   * @param offsets ascending: key i is the bytes with the indexes offsets[i] up to offsets[i + 1], so there is one
   *     offset more than there are keys. The buffer's position does not matter
   * @throws InvalidException if they do not ascend, or are beyond the buffer's limit; no key is added
   */
  public Verdicts addAll(ByteBuffer bytes, int[] offsets, long... times) {
    return all(bytes, offsets, true, times);
  }

  /**
   * As {@link #addAll(byte[][], long...)}, of numbers: the key is the decimal digits, so that 42 and "42" are one
   * key.
   */
  public Verdicts addAll(long[] keys, long... times) {
    return all(keys, true, times);
  }

  /** As {@link #addAll(byte[][], long...)}, but adds nothing. */
  public Verdicts checkAll(byte[][] keys, long... times) {
    return all(Keys.of(keys), false, times);
  }

  /** As {@link #checkAll(byte[][], long...)}. */
  public Verdicts checkAll(List<String> keys, long... times) {
    return all(Keys.of(keys), false, times);
  }

  /** As {@link #addAll(ByteBuffer, int[], long...)}, but adds nothing. */
  public Verdicts checkAll(ByteBuffer bytes, int[] offsets, long... times) {
    return all(bytes, offsets, false, times);
  }

  /** As {@link #addAll(long[], long...)}, but adds nothing. */
  public Verdicts checkAll(long[] keys, long... times) {
    return all(keys, false, times);
  }

  private Verdicts all(Keys keys, boolean adds, long[] times) {
    Objects.requireNonNull(times, "times");
    byte[] verdicts = new byte[keys.offsets.length - 1];
    handle.run(filter -> Native.judgeArray(filter, keys.bytes, keys.offsets, adds, times, verdicts));
    return new Verdicts(verdicts);
  }

  private Verdicts all(ByteBuffer bytes, int[] offsets, boolean adds, long[] times) {
    Objects.requireNonNull(times, "times");
    if (offsets.length == 0) throw new InvalidException("no offsets; there must be one more than keys", null);
    if (!bytes.isDirect()) return all(Keys.of(bytes, offsets), adds, times);
    byte[] verdicts = new byte[offsets.length - 1];
    handle.run(filter -> Native.judgeBuffer(filter, bytes, bytes.limit(), offsets, adds, times, verdicts));
    return new Verdicts(verdicts);
  }

  private Verdicts all(long[] keys, boolean adds, long[] times) {
    Objects.requireNonNull(times, "times");
    byte[] verdicts = new byte[keys.length];
    handle.run(filter -> Native.judgeIntegers(filter, keys, adds, times, verdicts));
    return new Verdicts(verdicts);
  }

  // ---- the filter as a whole

  /** The name by which it was opened. */
  public String name() {
    return name;
  }

  /**
   * The properties and the fill. Cost: on servers, one round trip per partition.
   *
   * @throws StorageException if files cannot be read
   * @throws BackendException if a server does not answer
   * @throws DamagedException if what is stored is damaged
   */
  public Info info() {
    return handle.use(filter -> new Info(new String(Native.info(filter), StandardCharsets.UTF_8)));
  }

  /**
   * Returns once everything acknowledged so far survives a power loss. On Redis, its configuration decides.
   *
   * @throws StorageException or BackendException: acknowledged keys may be lost at a power loss
   */
  public void sync() {
    handle.run(Native::sync);
  }

  /**
   * Creates a filter with the same properties and the same secret seed, empty, in any store: the two can be merged.
   *
   * @throws InvalidException if this filter belongs to another program, or its server does not show the seed to this
   *     user; and as {@link #create}
   */
  public Filter sibling(String url, String name) {
    byte[] store = Keys.terminated("url", url);
    byte[] called = Keys.terminated("name", name);
    return handle.use(filter -> new Filter(Native.sibling(filter, store, called), name));
  }

  /**
   * Adds all keys of a sibling, which does not change. Merging again adds what an interrupted call has left out, and
   * what the sibling has got since.
   *
   * @throws InvalidException if they are no siblings, or this filter was opened for reading
   * @throws FullException if together they have more keys than the error rate allows: nothing was added
   */
  public void merge(Filter sibling) {
    sibling.handle.run(other -> handle.run(filter -> Native.merge(filter, other)));
  }

  /**
   * Writes the filter as one stream of bytes, for {@link #importFrom} and {@code everseen import}: its properties, its
   * secret seed, and all bits, with checksums. It has every key that was added before the call.
   *
   * @throws IOException which the stream throws
   */
  public void exportTo(OutputStream out) throws IOException {
    Objects.requireNonNull(out, "out");
    long filter = handle.enter();
    try {
      Native.exportTo(filter, out);
    } finally {
      handle.leave();
    }
  }

  /**
   * As {@link #exportTo(OutputStream)}, to a file that is readable by its owner only, and appears or is replaced once
   * it is complete.
   */
  public void exportTo(Path file) throws IOException {
    Path target = Files.exists(file) ? file.toRealPath() : file.toAbsolutePath();
    Path written = Files.createTempFile(target.getParent(), ".everseen-", "");
    try {
      try (FileChannel channel = FileChannel.open(written, StandardOpenOption.WRITE)) {
        exportTo(Channels.newOutputStream(channel));
        channel.force(true);
      }
      Files.move(written, target, StandardCopyOption.ATOMIC_MOVE);
    } finally {
      Files.deleteIfExists(written);
    }
  }

  /**
   * Creates a filter from such a stream, read to its end, and opens it. Nothing is visible under the name before the
   * whole stream has been read and verified.
   *
   * @throws IOException which the stream throws
   * @throws DamagedException if the stream is damaged or truncated, or has bytes behind its end
   * @throws NameTakenException if there is a filter of this name; and as {@link #create}
   */
  public static Filter importFrom(String url, String name, InputStream in) throws IOException {
    Native.importFrom(Keys.terminated("url", url), Keys.terminated("name", name), Objects.requireNonNull(in, "in"));
    return open(url, name);
  }

  /** As {@link #importFrom(String, String, InputStream)}, of a file. */
  public static Filter importFrom(String url, String name, Path file) throws IOException {
    try (InputStream in = Files.newInputStream(file)) {
      return importFrom(url, name, in);
    }
  }

  /**
   * Opens a job of this filter, or creates it.
   *
   * @param description of a new one, for people
   */
  public Job job(String name, String description) {
    byte[] called = Keys.terminated("name", name);
    byte[] told = Keys.terminated("description", description);
    return handle.use(filter -> new Job(Native.openJob(filter, called, told)));
  }

  /**
   * Removes a job and everything it remembers; the keys that it added stay.
   *
   * @throws InvalidException if there is no such job, or the filter was opened for checks only
   */
  public void endJob(String name) {
    byte[] called = Keys.terminated("name", name);
    handle.run(filter -> Native.endJob(filter, called));
  }

  /** Closes the filter, which stays in its store. Closing it again does nothing. */
  @Override
  public void close() {
    handle.run();
  }

  @Override
  public String toString() {
    return "everseen.Filter[" + name + "]";
  }
}
