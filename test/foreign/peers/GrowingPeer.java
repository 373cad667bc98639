import com.google.common.hash.Funnels;
import com.google.common.hash.Hashing;
import java.io.BufferedInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * A growing filter of Guava in Redis, as Java programs use it: GrowingPeer PORT BASE BITS PROBES KEYS.
 *
 * <p>Puts each line of the file KEYS, command by command as they do, and prints 1 where put() reports a changed bit,
 * else 0. First it prints `ready` and waits for a line of standard input, so that a test can start both sides
 * together.
 */
public final class GrowingPeer {
  private final Socket socket;
  private final InputStream in;
  private final OutputStream out;
  private final String base;
  private final long bits;
  private final int probes;

  public static void main(String[] arguments) throws IOException {
    GrowingPeer peer = new GrowingPeer(arguments);
    System.out.println("ready");
    System.in.read();
    StringBuilder verdicts = new StringBuilder();
    for (String key : Files.readAllLines(Path.of(arguments[4]))) verdicts.append(peer.put(key) ? '1' : '0');
    System.out.println(verdicts);
  }

  private GrowingPeer(String[] arguments) throws IOException {
    socket = new Socket("127.0.0.1", Integer.parseInt(arguments[0]));
    socket.setTcpNoDelay(true);
    in = new BufferedInputStream(socket.getInputStream());
    out = socket.getOutputStream();
    base = arguments[1];
    bits = Long.parseLong(arguments[2]);
    probes = Integer.parseInt(arguments[3]);
    if (number("BITCOUNT", key(cursor())) == 0) number("SETBIT", key(cursor()), String.valueOf(bits - 1), "0");
  }

  private boolean put(String element) throws IOException {
    long[] offsets = offsets(element);
    if (number("BITCOUNT", key(cursor())) * 2 > bits) {
      long next = number("INCR", "cursor");
      number("SETBIT", key(next), String.valueOf(bits - 1), "0");
    }
    long newest = cursor();
    for (long i = 0; i < newest; i++) if (has(i, offsets)) return false;
    boolean changed = false;
    for (long offset : offsets) changed |= number("SETBIT", key(newest), String.valueOf(offset), "1") == 0;
    return changed;
  }

  /** MURMUR128_MITZ_64. */
  private long[] offsets(String element) {
    byte[] hash =
        Hashing.murmur3_128().hashObject(element, Funnels.stringFunnel(StandardCharsets.UTF_8)).asBytes();
    long combined = littleEndian(hash, 0);
    long step = littleEndian(hash, 8);
    long[] offsets = new long[probes];
    for (int i = 0; i < probes; i++, combined += step) offsets[i] = (combined & Long.MAX_VALUE) % bits;
    return offsets;
  }

  private static long littleEndian(byte[] bytes, int from) {
    long value = 0;
    for (int i = 7; i >= 0; i--) value = value << 8 | bytes[from + i] & 0xFF;
    return value;
  }

  private boolean has(long bitmap, long[] offsets) throws IOException {
    for (long offset : offsets) if (number("GETBIT", key(bitmap), String.valueOf(offset)) == 0) return false;
    return true;
  }

  private String key(long number) {
    return base + "-" + number;
  }

  private long cursor() throws IOException {
    return number("GET", "cursor");
  }

  /** Runs one command whose reply is an integer, a string that contains one, or nil, which means 0. */
  private long number(String... words) throws IOException {
    StringBuilder wire = new StringBuilder("*" + words.length + "\r\n");
    for (String word : words) wire.append("$").append(word.length()).append("\r\n").append(word).append("\r\n");
    out.write(wire.toString().getBytes(StandardCharsets.UTF_8));
    String line = line();
    if (line.startsWith("-")) throw new IOException(line);
    if (line.equals("$-1")) return 0;
    return Long.parseLong(line.startsWith("$") ? line() : line.substring(1));
  }

  private String line() throws IOException {
    StringBuilder line = new StringBuilder();
    for (int c = in.read(); c != '\n'; c = in.read()) {
      if (c < 0) throw new IOException("the server is gone");
      if (c != '\r') line.append((char) c);
    }
    return line.toString();
  }
}
