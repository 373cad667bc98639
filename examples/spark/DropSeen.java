import io.everseen.Filter;
import io.everseen.Job;
import io.everseen.Options;
import io.everseen.Verdicts;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.NoSuchElementException;
import java.util.Queue;
import java.util.concurrent.ConcurrentHashMap;
import org.apache.hadoop.io.LongWritable;
import org.apache.hadoop.io.Text;
import org.apache.hadoop.mapreduce.InputSplit;
import org.apache.hadoop.mapreduce.lib.input.FileSplit;
import org.apache.spark.TaskContext;
import org.apache.spark.api.java.function.Function;
import org.apache.spark.api.java.function.Function2;
import org.apache.spark.util.TaskCompletionListener;
import scala.Tuple2;

/**
 * Passes on the rows of a file whose key was never seen before, by this job or by anybody else who uses the filter: for
 * {@code mapPartitionsWithInputSplit}.
 *
 * <p>The verdict of a row is kept with the filter, by the file and the row's position in it, until the night is
 * settled. So each attempt of a task, at the same time or later, and each run of the night passes on the same rows.
 *
 * <p>A partition must be one whole file, which no longer changes. Rows are claimed a thousand at a time.
 */
public final class DropSeen implements Function2<InputSplit, Iterator<Tuple2<LongWritable, Text>>, Iterator<String>> {
  private static final long serialVersionUID = 1;
  private static final int BATCH = 1000; // a batch costs as many round trips to the store as a single row
  private static final String JOB = "nightly";
  private static final Map<String, Filter> OPEN = new ConcurrentHashMap<>(); // one in each executor, for all its tasks

  private final String store;
  private final String name;
  private final String night;
  private final Function<String, String> key;

  /**
   * @param name of the filter
   * @param night the name of the run; two nights may have files of the same name
   * @param key of a row
   */
  public DropSeen(String store, String name, String night, Function<String, String> key) {
    this.store = store;
    this.name = name;
    this.night = night;
    this.key = key;
  }

  @Override
  public Iterator<String> call(InputSplit split, Iterator<Tuple2<LongWritable, Text>> rows) {
    String source = night + "/" + ((FileSplit) split).getPath().getName();
    Job job = job(store, name); // of this attempt alone, since claims of a source are made one at a time
    TaskContext.get().addTaskCompletionListener((TaskCompletionListener) task -> job.close());
    mustNotBeSettled(job, source);
    return new Fresh(job, source, rows);
  }

  /**
   * To be called before a run deletes the output of an earlier run.
   *
   * @throws IllegalStateException if a file of the night is settled
   */
  public static void mustNotBeSettled(String store, String name, String night, List<String> files) {
    try (Job job = job(store, name)) {
      for (String file : files) mustNotBeSettled(job, night + "/" + file);
    }
  }

  private static void mustNotBeSettled(Job job, String source) {
    if (job.settled(source) > 0)
      throw new IllegalStateException(source + " is settled: its verdicts are forgotten, so it cannot be read again");
  }

  /** Forgets the verdicts of a night, which cannot run again. */
  public static void settle(String store, String name, String night, List<String> files) {
    try (Job job = job(store, name)) {
      for (String file : files) job.settle(night + "/" + file, Long.MAX_VALUE - 1);
    }
  }

  private static Job job(String store, String name) {
    return OPEN.computeIfAbsent(store + " " + name,
        any -> Filter.openOrCreate(store, name, new Options().capacity(1_000_000).errorRate(1e-9)))
        .job(JOB, "drops rows of earlier nights");
  }

  private final class Fresh implements Iterator<String> {
    private final Job job;
    private final String source;
    private final Iterator<Tuple2<LongWritable, Text>> rows;
    private final Queue<String> ready = new ArrayDeque<>();

    Fresh(Job job, String source, Iterator<Tuple2<LongWritable, Text>> rows) {
      this.job = job;
      this.source = source;
      this.rows = rows;
    }

    @Override
    public boolean hasNext() {
      while (ready.isEmpty() && rows.hasNext()) judge();
      return !ready.isEmpty();
    }

    @Override
    public String next() {
      if (!hasNext()) throw new NoSuchElementException();
      return ready.remove();
    }

    private void judge() {
      List<String> batch = new ArrayList<>();
      List<String> keys = new ArrayList<>();
      long[] positions = new long[BATCH];
      while (batch.size() < BATCH && rows.hasNext()) {
        Tuple2<LongWritable, Text> row = rows.next();
        positions[batch.size()] = row._1.get();
        batch.add(row._2.toString());
        keys.add(keyOf(batch.get(batch.size() - 1)));
      }
      Verdicts verdicts = job.claim(source, keys, Arrays.copyOf(positions, keys.size()));
      for (int i = 0; i < batch.size(); ++i) if (verdicts.isFresh(i)) ready.add(batch.get(i));
    }

    private String keyOf(String row) {
      try {
        return key.call(row);
      } catch (Exception why) {
        throw new IllegalArgumentException("a row of " + source + " has no key: " + row, why);
      }
    }
  }
}
