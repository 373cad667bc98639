import com.google.common.hash.BloomFilter;
import com.google.common.hash.Funnel;
import com.google.common.hash.Funnels;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.function.Function;

/**
 * Fills filters of Guava for the test, and reads those of the test.
 *
 * <p>In the directory given, each line of `cases` is: name strategy funnel insertions rate. NAME.keys has a key a
 * line, NAME.ours the filter of the test. Writes NAME.theirs, and prints the view of BloomFilter on NAME.ours: whether
 * it equals Guava's own, and how many of the keys it contains. One start of the virtual machine serves all cases.
 */
public final class GuavaPeer {
  public static void main(String[] arguments) throws IOException {
    Path directory = Path.of(arguments[0]);
    for (String line : Files.readAllLines(directory.resolve("cases"))) {
      String[] words = line.split(" ");
      int strategy = Integer.parseInt(words[1]);
      long insertions = Long.parseLong(words[3]);
      double rate = Double.parseDouble(words[4]);
      switch (words[2]) {
        case "bytes" -> run(directory, words[0], strategy, insertions, rate, Funnels.stringFunnel(StandardCharsets.UTF_8), k -> k);
        case "chars" -> run(directory, words[0], strategy, insertions, rate, Funnels.unencodedCharsFunnel(), k -> k);
        case "int" -> run(directory, words[0], strategy, insertions, rate, Funnels.integerFunnel(), Integer::valueOf);
        case "long" -> run(directory, words[0], strategy, insertions, rate, Funnels.longFunnel(), Long::valueOf);
        default -> throw new IllegalArgumentException(line);
      }
    }
  }

  private static <T> void run(Path directory, String name, int strategy, long insertions, double rate,
      Funnel<? super T> funnel, Function<String, T> parse) throws IOException {
    List<String> keys = Files.readAllLines(directory.resolve(name + ".keys"));
    BloomFilter<T> theirs = empty(strategy, insertions, rate, funnel);
    for (String key : keys) theirs.put(parse.apply(key));
    Files.write(directory.resolve(name + ".theirs"), stream(theirs));
    BloomFilter<T> ours = BloomFilter.readFrom(Files.newInputStream(directory.resolve(name + ".ours")), funnel);
    long contained = keys.stream().filter(key -> ours.mightContain(parse.apply(key))).count();
    System.out.println(name + " " + ours.equals(theirs) + " " + contained);
  }

  /** The old strategy can no longer be requested, but a stream can name it. */
  private static <T> BloomFilter<T> empty(int strategy, long insertions, double rate, Funnel<? super T> funnel)
      throws IOException {
    byte[] bytes = stream(BloomFilter.<T>create(funnel, insertions, rate));
    bytes[0] = (byte) strategy;
    return BloomFilter.readFrom(new ByteArrayInputStream(bytes), funnel);
  }

  private static byte[] stream(BloomFilter<?> filter) throws IOException {
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    filter.writeTo(out);
    return out.toByteArray();
  }
}
