import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import org.redisson.Redisson;
import org.redisson.api.RBloomFilter;
import org.redisson.api.RedissonClient;
import org.redisson.client.codec.ByteArrayCodec;
import org.redisson.client.codec.StringCodec;
import org.redisson.config.Config;

/**
 * Redisson itself, for the test: RedissonPeer PORT. Executes the lines of standard input, and answers each with a line.
 *
 * <p>The first words are a command, a codec (`text` or `array`) and the name of a filter: `init` INSERTIONS RATE; `size`
 * and `probes`; `add` or `contains` FILE, which has a key in base64 a line, answered by how many were added or are
 * contained; `expire` SECONDS; `delete`.
 */
public final class RedissonPeer {
  public static void main(String[] arguments) throws IOException {
    Config config = new Config();
    config.useSingleServer().setAddress("redis://127.0.0.1:" + arguments[0]);
    RedissonClient redisson = Redisson.create(config);
    System.out.println("ready");
    BufferedReader lines = new BufferedReader(new InputStreamReader(System.in));
    for (String line = lines.readLine(); line != null; line = lines.readLine()) {
      String[] words = line.split(" ");
      System.out.println(words[1].equals("text")
          ? new Answers<String>(redisson.getBloomFilter(words[2], StringCodec.INSTANCE)) {
              @Override
              String decode(byte[] key) {
                return new String(key, StandardCharsets.UTF_8);
              }
            }.to(words)
          : new Answers<byte[]>(redisson.getBloomFilter(words[2], ByteArrayCodec.INSTANCE)) {
              @Override
              byte[] decode(byte[] key) {
                return key;
              }
            }.to(words));
    }
    redisson.shutdown();
  }

  private abstract static class Answers<T> {
    private final RBloomFilter<T> filter;

    Answers(RBloomFilter<T> filter) {
      this.filter = filter;
    }

    abstract T decode(byte[] key);

    String to(String[] words) throws IOException {
      return switch (words[0]) {
        case "init" -> String.valueOf(filter.tryInit(Long.parseLong(words[3]), Double.parseDouble(words[4])));
        case "size" -> String.valueOf(filter.getSize());
        case "probes" -> String.valueOf(filter.getHashIterations());
        case "add" -> String.valueOf(count(words[3], true));
        case "contains" -> String.valueOf(count(words[3], false));
        case "expire" -> String.valueOf(filter.expire(Duration.ofSeconds(Long.parseLong(words[3]))));
        case "delete" -> String.valueOf(filter.delete());
        default -> throw new IllegalArgumentException(words[0]);
      };
    }

    /** How many of the keys were added, or are contained. */
    private long count(String file, boolean add) throws IOException {
      List<T> keys = new ArrayList<>();
      for (String line : Files.readAllLines(Path.of(file))) keys.add(decode(Base64.getDecoder().decode(line)));
      long count = 0;
      for (int from = 0; from < keys.size(); from += 1000) {
        List<T> some = keys.subList(from, Math.min(from + 1000, keys.size()));
        count += add ? filter.add(some) : filter.contains(some);
      }
      return count;
    }
  }
}
