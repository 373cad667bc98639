import io.everseen.Filter;
import io.everseen.Options;
import io.everseen.Verdict;
import io.everseen.Verdicts;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ThreadLocalRandom;

/** The store of a run, which the property {@code store} names, and what several tests need of it. */
final class Store {
  static final String URL = System.getProperty("store", "mem:");

  private Store() {}

  static boolean hasNames() {
    return !URL.equals("mem:"); // where each call has a store of its own
  }

  static String freeName() {
    return "f" + Long.toHexString(ThreadLocalRandom.current().nextLong());
  }

  static Filter made() {
    return made(new Options());
  }

  static Filter made(Options options) {
    return Filter.openOrCreate(URL, freeName(), options);
  }

  static List<String> numbers(int from, int to) {
    List<String> all = new ArrayList<>();
    for (int i = from; i < to; ++i) all.add(Integer.toString(i));
    return all;
  }

  static List<Verdict> list(Verdicts verdicts) {
    List<Verdict> all = new ArrayList<>();
    for (int i = 0; i < verdicts.size(); ++i) all.add(verdicts.get(i));
    return all;
  }
}
