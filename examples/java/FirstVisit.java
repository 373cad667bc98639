import io.everseen.Filter;
import io.everseen.Options;
import io.everseen.Verdicts;
import java.util.List;

/**
 * Prints for each argument whether it is new.
 *
 * <pre>
 * ./dev jar; sudo apt-get install redis-server
 * java -cp build/everseen-0.1.0.jar examples/java/FirstVisit.java redis://localhost alice bob alice
 * </pre>
 */
public final class FirstVisit {
  public static void main(String[] words) {
    List<String> visitors = List.of(words).subList(1, words.length);
    try (Filter seen = Filter.openOrCreate(words[0], "visitors", new Options())) {
      Verdicts verdicts = seen.addAll(visitors);
      for (int i = 0; i < verdicts.size(); i++)
        System.out.println(visitors.get(i) + (verdicts.isFresh(i) ? " is new" : " was here before"));
    }
  }
}
