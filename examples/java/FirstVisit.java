import com.sun.jna.Library;
import com.sun.jna.Native;
import com.sun.jna.NativeLong;
import com.sun.jna.Pointer;
import com.sun.jna.ptr.PointerByReference;
import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;
import java.util.List;

/**
 * Prints for each argument whether it is new: a filter in Java, by JNA over libeverseen.so. The JDK of Debian 12 has
 * its own way to call C only as a preview.
 *
 * <pre>
 * sudo apt-get install default-jdk-headless libjna-java redis-server
 * java -cp /usr/share/java/jna.jar examples/java/FirstVisit.java redis://localhost alice bob alice
 * </pre>
 */
public final class FirstVisit {
  /** The functions of everseen.h that are used here. */
  public interface Everseen extends Library {
    int everseen_open_or_create(String url, String name, Pointer options, PointerByReference filter);

    int everseen_add_offsets64(Pointer filter, byte[] bytes, long[] offsets, NativeLong count, Pointer times,
        NativeLong timesCount, byte[] verdicts);

    String everseen_last_error();

    void everseen_close(Pointer filter);
  }

  /** A filter that any number of threads may use concurrently. */
  public static final class Filter implements AutoCloseable {
    private static final byte FRESH = 0, LATE = 2; // older than the window: neither judged nor added
    private static final Everseen LIBRARY = Native.load("libeverseen.so.0", Everseen.class);
    private final Pointer filter;

    /** Opens the filter of this name, or creates it with everseen's defaults. */
    public Filter(String url, String name) {
      PointerByReference opened = new PointerByReference();
      check(LIBRARY.everseen_open_or_create(url, name, null, opened));
      filter = opened.getValue();
    }

    /** Adds keys; whether each was fresh: certainly not added before, by any process. */
    public boolean[] addMany(List<byte[]> keys) {
      ByteArrayOutputStream bytes = new ByteArrayOutputStream();
      long[] offsets = new long[keys.size() + 1];
      for (int i = 0; i < keys.size(); i++) {
        bytes.writeBytes(keys.get(i));
        offsets[i + 1] = bytes.size();
      }
      byte[] verdicts = new byte[keys.size()];
      check(LIBRARY.everseen_add_offsets64(filter, bytes.toByteArray(), offsets, new NativeLong(keys.size()), null,
          new NativeLong(0), verdicts));
      boolean[] fresh = new boolean[verdicts.length];
      for (int i = 0; i < verdicts.length; i++) {
        if (verdicts[i] == LATE) throw new IllegalStateException("a key is older than the window of the filter");
        fresh[i] = verdicts[i] == FRESH;
      }
      return fresh;
    }

    @Override
    public void close() {
      LIBRARY.everseen_close(filter);
    }

    private static void check(int status) {
      if (status != 0) throw new IllegalStateException("everseen: " + LIBRARY.everseen_last_error());
    }
  }

  public static void main(String[] words) {
    List<String> visitors = List.of(words).subList(1, words.length);
    try (Filter seen = new Filter(words[0], "visitors")) {
      boolean[] fresh = seen.addMany(visitors.stream().map(v -> v.getBytes(StandardCharsets.UTF_8)).toList());
      for (int i = 0; i < fresh.length; i++)
        System.out.println(visitors.get(i) + (fresh[i] ? " is new" : " was here before"));
    }
  }
}
