import io.everseen.Filter;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.file.FileVisitResult;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.SimpleFileVisitor;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.BitSet;
import java.util.SplittableRandom;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Consumer;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.apache.flink.api.common.eventtime.WatermarkStrategy;
import org.apache.flink.api.common.functions.RichFilterFunction;
import org.apache.flink.api.common.state.CheckpointListener;
import org.apache.flink.api.common.state.ValueState;
import org.apache.flink.api.common.state.ValueStateDescriptor;
import org.apache.flink.api.common.typeinfo.TypeInformation;
import org.apache.flink.api.common.typeinfo.Types;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.connector.datagen.source.DataGeneratorSource;
import org.apache.flink.connector.datagen.source.GeneratorFunction;
import org.apache.flink.streaming.api.datastream.DataStream;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.apache.flink.streaming.api.functions.sink.v2.DiscardingSink;

/**
 * What does it cost to drop repeated events in Flink, by the operator of examples/flink beside Flink's own keyed state,
 * in memory and in RocksDB?
 *
 * <p>Two million events of a million UUIDs, two tasks, a checkpoint each second; each way three times in turn, of which
 * the first warms up. Events per second and CPU are from the first event to the last, so without the start of the job;
 * CPU is that of this process and of Redis. The number of fresh events is checked before anything is printed. Stored
 * bytes are those of a checkpoint that has all keys, or of the filter; those in the heap are what is in use after a
 * collection.
 *
 * <p>usage: with_redis.sh java FlinkBench, as {@code ./dev bench flink} does; $EVERSEEN_STORE names the Redis.
 */
public final class FlinkBench {
  private static final int TASKS = 2;
  private static final int KEYS = 1_000_000;
  private static final long EVENTS = 2_000_000;
  private static final int ROUNDS = 3;
  private static final String STORE = System.getenv("EVERSEEN_STORE");

  // The tasks are threads of this process.
  private static final AtomicLong FRESH = new AtomicLong();
  private static final AtomicLong JUDGED = new AtomicLong();
  private static final AtomicLong LAST = new AtomicLong(); // when a fresh event went on
  private static volatile long begin;
  private static volatile long end;
  private static volatile double beginCpu;
  private static volatile double endCpu;
  private static volatile long checkpointed;
  private static volatile long heap;
  private static volatile Path checkpoints;

  private FlinkBench() {}

  private static int user(long number) {
    return new SplittableRandom(number).nextInt(KEYS);
  }

  private static DropSeen.Event event(long number) {
    if (number == 0) {
      begin = System.nanoTime();
      beginCpu = ownCpu();
    }
    DropSeen.Event event = new DropSeen.Event();
    event.lane = (int) (number / (EVENTS / TASKS));
    event.position = number % (EVENTS / TASKS);
    SplittableRandom id = new SplittableRandom(user(number));
    event.key = new UUID(id.nextLong(), id.nextLong()).toString();
    return event;
  }

  /** The usual way: a state for each key. */
  public static final class FirstOfKey extends RichFilterFunction<DropSeen.Event> implements CheckpointListener {
    private static final long serialVersionUID = 1;
    private transient ValueState<Boolean> seen;

    @Override
    public void open(Configuration settings) {
      seen = getRuntimeContext().getState(new ValueStateDescriptor<>("seen", Types.BOOLEAN));
    }

    @Override
    public boolean filter(DropSeen.Event event) throws IOException {
      boolean first = seen.value() == null;
      if (first) seen.update(true);
      if (JUDGED.incrementAndGet() == EVENTS) {
        end = System.nanoTime();
        endCpu = ownCpu();
      }
      return first;
    }

    @Override
    public void notifyCheckpointComplete(long checkpoint) throws IOException {
      if (JUDGED.get() < EVENTS) return;
      checkpointed = bytesIn(checkpoints);
      heap = usedHeap();
    }
  }

  private static final class Way {
    final String name;
    final String backend;
    final boolean everseen;
    double speed;
    double cpu;
    double state;
    double heap;

    Way(String name, String backend, boolean everseen) {
      this.name = name;
      this.backend = backend;
      this.everseen = everseen;
    }

    /** Runs once; keeps the best speed and CPU time. */
    void run(int round, long expected) throws Exception {
      Path folder = Files.createTempDirectory("flink-bench-");
      checkpoints = folder.resolve("checkpoints");
      Configuration settings = new Configuration();
      settings.setString("execution.checkpointing.interval", "1s");
      settings.setString("execution.checkpointing.dir", checkpoints.toUri().toString());
      settings.setString("state.backend.type", backend);
      settings.setString("state.backend.rocksdb.localdir", folder.resolve("rocksdb").toString());
      settings.setString("execution.checkpointing.incremental", "true");
      settings.setString("execution.checkpointing.num-retained", "1");
      settings.setString("restart-strategy.type", "none");
      StreamExecutionEnvironment flink = StreamExecutionEnvironment.getExecutionEnvironment(settings);
      flink.setParallelism(TASKS);
      flink.getConfig().enableObjectReuse();

      GeneratorFunction<Long, DropSeen.Event> generator = FlinkBench::event;
      DataStream<DropSeen.Event> events = flink.fromSource(
          new DataGeneratorSource<>(generator, EVENTS, TypeInformation.of(DropSeen.Event.class)),
          WatermarkStrategy.noWatermarks(), "events");
      String filter = "bench-" + round;
      DataStream<DropSeen.Event> fresh = everseen
          ? events.transform("drop seen", TypeInformation.of(DropSeen.Event.class), new DropSeen(STORE, filter))
          : events.keyBy(event -> event.key).filter(new FirstOfKey());
      fresh.map(FlinkBench::counted).returns(Types.LONG).sinkTo(new DiscardingSink<>());
      FRESH.set(0);
      JUDGED.set(0);
      checkpointed = 0;
      end = 0;
      long empty = usedHeap();
      double redis = cpuOfRedis();
      flink.execute(name);
      if (everseen) {
        end = LAST.get();
        endCpu = ownCpu();
      }
      double used = endCpu - beginCpu + cpuOfRedis() - redis;
      if (FRESH.get() > expected || FRESH.get() < expected - 1)
        throw new AssertionError(name + ": " + FRESH.get() + " fresh events of " + expected);
      if (round > 0) {
        speed = Math.max(speed, EVENTS * 1e9 / (end - begin));
        cpu = cpu == 0 ? used : Math.min(cpu, used);
      }
      if (everseen) {
        try (Filter made = Filter.open(STORE, filter)) {
          state = (double) made.info().bytes() / expected;
        }
      } else {
        if (checkpointed == 0) throw new AssertionError(name + ": no checkpoint was complete after the last event");
        state = (double) checkpointed / expected;
        heap = (double) Math.max(0, FlinkBench.heap - empty) / expected;
      }
      visit(folder, file -> file.toFile().delete());
    }
  }

  private static long counted(DropSeen.Event event) {
    LAST.set(System.nanoTime());
    return FRESH.incrementAndGet();
  }

  public static void main(String[] words) throws Exception {
    BitSet users = new BitSet();
    for (long number = 0; number < EVENTS; ++number) users.set(user(number));
    int expected = users.cardinality();
    Way[] ways = {new Way("keyed state, heap", "hashmap", false), new Way("keyed state, RocksDB", "rocksdb", false),
        new Way("everseen, Redis", "hashmap", true)};
    for (int round = 0; round < ROUNDS; ++round)
      for (Way way : ways) way.run(round, expected);
    System.out.printf("%d events, %d keys, all fresh events right%n", EVENTS, expected);
    for (Way way : ways)
      System.out.printf("%-22s %4.0f thousand events/s; %4.1f us of CPU per event (heap takes %4.2f times that, "
          + "RocksDB %5.2f); bytes per key: %5.1f stored%s%n", way.name, way.speed / 1e3,
          way.cpu * 1e6 / EVENTS, ways[0].cpu / way.cpu, ways[1].cpu / way.cpu, way.state,
          way.everseen ? "" : String.format(", %5.1f in the heap", way.heap));
  }

  private static long usedHeap() {
    for (int i = 0; i < 3; ++i) System.gc();
    return Runtime.getRuntime().totalMemory() - Runtime.getRuntime().freeMemory();
  }

  /** In seconds, of this process. */
  private static double ownCpu() {
    return ((com.sun.management.OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean())
        .getProcessCpuTime() / 1e9;
  }

  private static double cpuOfRedis() throws IOException {
    Process asked = new ProcessBuilder("redis-cli", "-s", STORE.substring("unix:".length()), "INFO", "cpu").start();
    Matcher used = Pattern.compile("used_cpu_(sys|user):([0-9.]+)")
        .matcher(new String(asked.getInputStream().readAllBytes()));
    double seconds = 0;
    while (used.find()) seconds += Double.parseDouble(used.group(2));
    return seconds;
  }

  private static long bytesIn(Path folder) throws IOException {
    AtomicLong bytes = new AtomicLong();
    visit(folder, file -> bytes.addAndGet(file.toFile().length()));
    return bytes.get();
  }

  /** Visits what is in a folder, and then the folder; Flink may remove some of it meanwhile. */
  private static void visit(Path folder, Consumer<Path> visit) throws IOException {
    Files.walkFileTree(folder, new SimpleFileVisitor<Path>() {
      @Override
      public FileVisitResult visitFile(Path file, BasicFileAttributes any) {
        visit.accept(file);
        return FileVisitResult.CONTINUE;
      }

      @Override
      public FileVisitResult visitFileFailed(Path file, IOException why) {
        return FileVisitResult.CONTINUE;
      }

      @Override
      public FileVisitResult postVisitDirectory(Path directory, IOException why) {
        visit.accept(directory);
        return FileVisitResult.CONTINUE;
      }
    });
  }
}
