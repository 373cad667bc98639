import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.stream.Collectors;
import java.util.stream.LongStream;
import java.util.stream.Stream;
import org.apache.flink.api.common.eventtime.WatermarkStrategy;
import org.apache.flink.api.common.serialization.SimpleStringEncoder;
import org.apache.flink.api.common.typeinfo.TypeInformation;
import org.apache.flink.api.common.typeinfo.Types;
import org.apache.flink.api.connector.source.util.ratelimit.RateLimiterStrategy;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.connector.datagen.source.DataGeneratorSource;
import org.apache.flink.connector.datagen.source.GeneratorFunction;
import org.apache.flink.connector.file.sink.FileSink;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.apache.flink.streaming.api.functions.sink.filesystem.bucketassigners.BasePathBucketAssigner;
import org.apache.flink.streaming.api.functions.sink.filesystem.rollingpolicies.OnCheckpointRollingPolicy;

/**
 * Events from a source that can be read again, through {@link DropSeen}, into files, exactly once.
 *
 * <p>run STORE FOLDER [CHECKPOINT] reads all events, from the checkpoint on; check FOLDER compares the files with the
 * exact answer.
 */
public final class DropSeenEvents {
  private static final int LANES = 4;
  private static final long EVENTS_OF_A_LANE = 75_000;
  private static final int KEYS = 100_000;

  private DropSeenEvents() {}

  /** The n-th event of all: a split of the source is a lane. */
  private static DropSeen.Event event(long number) {
    DropSeen.Event event = new DropSeen.Event();
    event.lane = (int) (number / EVENTS_OF_A_LANE);
    event.position = number % EVENTS_OF_A_LANE;
    event.key = "user " + new SplittableRandom(number).nextInt(KEYS);
    return event;
  }

  public static void main(String[] words) throws Exception {
    if (words[0].equals("check")) check(Path.of(words[1], "output"));
    else run(words[1], Path.of(words[2]).toAbsolutePath(), words.length > 3 ? words[3] : null);
  }

  private static void run(String store, Path folder, String checkpoint) throws Exception {
    Configuration settings = new Configuration();
    settings.setString("execution.checkpointing.interval", "500ms");
    settings.setString("execution.checkpointing.dir", folder.resolve("checkpoints").toUri().toString());
    settings.setString("execution.checkpointing.externalized-checkpoint-retention", "RETAIN_ON_CANCELLATION");
    if (checkpoint != null) settings.setString("execution.state-recovery.path", checkpoint);
    StreamExecutionEnvironment flink = StreamExecutionEnvironment.getExecutionEnvironment(settings);
    flink.setParallelism(LANES);

    GeneratorFunction<Long, DropSeen.Event> generator = DropSeenEvents::event;
    DataGeneratorSource<DropSeen.Event> source = new DataGeneratorSource<>(generator, LANES * EVENTS_OF_A_LANE,
        RateLimiterStrategy.perSecond(40_000), TypeInformation.of(DropSeen.Event.class));
    org.apache.flink.core.fs.Path output = new org.apache.flink.core.fs.Path(folder.resolve("output").toUri());
    FileSink<String> sink = FileSink.forRowFormat(output, new SimpleStringEncoder<String>())
        .withBucketAssigner(new BasePathBucketAssigner<>())
        .withRollingPolicy(OnCheckpointRollingPolicy.build())
        .build();
    flink.fromSource(source, WatermarkStrategy.noWatermarks(), "events").uid("events")
        .transform("drop seen", TypeInformation.of(DropSeen.Event.class), new DropSeen(store, "events"))
        .uid("drop seen")
        .map(event -> event.key).returns(Types.STRING).uid("key")
        .sinkTo(sink).uid("files");
    flink.execute("drop events that were seen before");
  }

  private static void check(Path output) throws IOException {
    List<Path> files;
    try (Stream<Path> all = Files.list(output)) {
      files = all.filter(file -> !file.getFileName().toString().startsWith(".")).collect(Collectors.toList());
    }
    List<String> written = new ArrayList<>();
    for (Path file : files) written.addAll(Files.readAllLines(file));
    Set<String> expected = LongStream.range(0, LANES * EVENTS_OF_A_LANE).mapToObj(number -> event(number).key)
        .collect(Collectors.toSet());
    Set<String> different = new HashSet<>(written);
    long missing = expected.stream().filter(key -> !different.contains(key)).count();
    System.out.printf("%d events, %d keys, %d lines in the output, %d missing, %d repeated%n", LANES * EVENTS_OF_A_LANE,
        expected.size(), written.size(), missing, written.size() - different.size());
    if (missing > 0 || written.size() != expected.size()) System.exit(1);
    System.out.println("difference 0");
  }
}
