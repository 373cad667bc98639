import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.apache.hadoop.io.LongWritable;
import org.apache.hadoop.io.Text;
import org.apache.hadoop.mapreduce.JobContext;
import org.apache.hadoop.mapreduce.lib.input.TextInputFormat;
import org.apache.spark.api.java.JavaNewHadoopRDD;
import org.apache.spark.api.java.JavaRDD;
import org.apache.spark.api.java.JavaSparkContext;
import org.apache.spark.sql.Encoders;
import org.apache.spark.sql.SaveMode;
import org.apache.spark.sql.SparkSession;

/**
 * Each night, the rows of users who were never seen before, from FOLDER/input/NIGHT into FOLDER/output/NIGHT.
 *
 * <p>run STORE FOLDER NIGHT; settle STORE FOLDER NIGHT, when the night will not run again; make FOLDER makes the input
 * of all nights; check FOLDER compares the output with the exact answer.
 */
public final class NightlyJob {
  private static final int NIGHTS = 3;
  private static final int FILES = 12;
  private static final int ROWS = 100_000;
  private static final int KEYS = 900_000;

  private NightlyJob() {}

  public static void main(String[] words) throws IOException {
    switch (words[0]) {
      case "run": run(words[1], words[2], words[3]); break;
      case "settle": settle(words[1], words[2], words[3]); break;
      case "make": make(Path.of(words[1])); break;
      default: check(Path.of(words[1]));
    }
  }

  /** Lines of text whose files are never divided, whatever Spark is told: a partition is a whole file. */
  public static final class WholeFiles extends TextInputFormat {
    @Override
    protected boolean isSplitable(JobContext context, org.apache.hadoop.fs.Path file) {
      return false;
    }
  }

  private static void run(String store, String folder, String night) throws IOException {
    DropSeen.mustNotBeSettled(store, "users", night, names(Path.of(folder, "input", night)));
    try (SparkSession spark = SparkSession.builder().appName("nightly").getOrCreate()) {
      JavaSparkContext files = JavaSparkContext.fromSparkContext(spark.sparkContext());
      JavaNewHadoopRDD<LongWritable, Text> rows = (JavaNewHadoopRDD<LongWritable, Text>) files.newAPIHadoopFile(
          folder + "/input/" + night, WholeFiles.class, LongWritable.class, Text.class, files.hadoopConfiguration());
      JavaRDD<String> fresh = rows.mapPartitionsWithInputSplit(
          new DropSeen(store, "users", night, row -> row.substring(0, row.indexOf(','))), true);
      spark.createDataset(fresh.rdd(), Encoders.STRING()).write().mode(SaveMode.Overwrite)
          .text(folder + "/output/" + night);
    }
  }

  private static void settle(String store, String folder, String night) throws IOException {
    DropSeen.settle(store, "users", night, names(Path.of(folder, "input", night)));
  }

  private static void make(Path folder) throws IOException {
    SplittableRandom random = new SplittableRandom(1);
    for (int night = 1; night <= NIGHTS; ++night) {
      Path input = Files.createDirectories(folder.resolve("input/night-" + night));
      for (int file = 0; file < FILES; ++file)
        try (PrintWriter out = new PrintWriter(Files.newBufferedWriter(input.resolve("part-" + file + ".csv")))) {
          for (int row = 0; row < ROWS; ++row) out.println("user " + random.nextInt(KEYS) + ",row " + row);
        }
    }
  }

  private static void check(Path folder) throws IOException {
    Set<String> before = new HashSet<>();
    boolean same = true;
    for (int night = 1; night <= NIGHTS; ++night) {
      Set<String> expected = new HashSet<>(keys(folder.resolve("input/night-" + night)));
      expected.removeAll(before);
      before.addAll(expected);
      List<String> written = keys(folder.resolve("output/night-" + night));
      Set<String> different = new HashSet<>(written);
      long missing = expected.stream().filter(key -> !different.contains(key)).count();
      System.out.printf("night %d: %d new keys, %d rows in the output, %d missing, %d repeated%n", night,
          expected.size(), written.size(), missing, written.size() - different.size());
      same &= missing == 0 && written.size() == expected.size();
    }
    if (!same) System.exit(1);
    System.out.println("difference 0");
  }

  private static List<String> names(Path folder) throws IOException {
    try (Stream<Path> all = Files.list(folder)) {
      return all.map(file -> file.getFileName().toString()).filter(name -> name.startsWith("part-"))
          .collect(Collectors.toList());
    }
  }

  private static List<String> keys(Path folder) throws IOException {
    List<String> keys = new ArrayList<>();
    for (String name : names(folder))
      for (String row : Files.readAllLines(folder.resolve(name))) keys.add(row.substring(0, row.indexOf(',')));
    return keys;
  }
}
