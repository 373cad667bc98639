import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.everseen.Filter;
import io.everseen.Job;
import io.everseen.Options;
import io.everseen.Verdict;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.Test;

/** Threads that share a filter, and close it while others use it. */
final class ThreadsTest {
  private static <T> List<T> together(int threads, Callable<T> work) throws Exception {
    ExecutorService pool = Executors.newFixedThreadPool(threads);
    try {
      List<Future<T>> running = new ArrayList<>();
      for (int i = 0; i < threads; ++i) running.add(pool.submit(work));
      List<T> results = new ArrayList<>();
      for (Future<T> each : running) results.add(each.get());
      return results;
    } finally {
      pool.shutdownNow();
    }
  }

  @Test
  void eachKeyIsFreshInOneOfManyThreads() throws Exception {
    List<String> keys = Store.numbers(0, 20_000);
    try (Filter f = Store.made(new Options().capacity(100_000))) {
      int fresh = together(4, () -> {
        int mine = 0;
        for (int from = 0; from < keys.size(); from += 500)
          mine += f.addAll(keys.subList(from, from + 500)).count(Verdict.FRESH);
        return mine;
      }).stream().mapToInt(Integer::intValue).sum();
      assertTrue(fresh <= 20_000 && fresh > 19_990, "fresh: " + fresh);
    }
  }

  /** Each call has an answer, or says that the filter is closed; and so does each later one. */
  @Test
  void aFilterMayBeClosedWhileOthersUseIt() throws Exception {
    List<String> keys = Store.numbers(0, 3_000);
    for (int round = 0; round < 20; ++round) {
      Filter f = Store.made();
      Job job = f.job("count", "");
      CountDownLatch used = new CountDownLatch(6);
      ExecutorService pool = Executors.newFixedThreadPool(3);
      List<Future<?>> users = new ArrayList<>();
      for (int i = 0; i < 3; ++i) {
        String source = "s" + i;
        users.add(pool.submit(() -> {
          for (int turn = 0;; ++turn) {
            assertEquals(3_000, f.addAll(keys).size());
            assertEquals(1, job.claim(source, List.of("x"), new long[] {turn}).size());
            f.info();
            used.countDown();
          }
        }));
      }
      used.await();
      f.close();
      job.close();
      for (Future<?> user : users) {
        Throwable end = assertThrows(ExecutionException.class, user::get).getCause();
        assertTrue(end instanceof IllegalStateException && end.getMessage().endsWith("is closed"), end.toString());
      }
      pool.shutdown();
    }
  }

  @Test
  void manyThreadsMayCloseAtOnce() throws Exception {
    for (int round = 0; round < 200; ++round) {
      Filter f = Store.made();
      together(4, () -> {
        f.close();
        return assertThrows(IllegalStateException.class, () -> f.add("a"));
      });
    }
  }

  /** Each key is one that the array had. */
  @Test
  void arraysMayChangeWhileTheirKeysAreJudged() throws Exception {
    byte[][] keys = new byte[50_000][];
    for (int i = 0; i < keys.length; ++i) keys[i] = Integer.toString(i).getBytes();
    long[] times = new long[keys.length];
    Thread disturbing = new Thread(() -> {
      for (int i = 0; !Thread.interrupted(); ++i) {
        keys[i % keys.length] = new byte[] {(byte) i, (byte) (i >> 8), 1, 2, 3, 4, 5, 6, 7, 8, 9};
        times[i % keys.length] = i;
      }
    });
    disturbing.start();
    try (Filter f = Store.made(new Options().capacity(1_000_000))) {
      for (int i = 0; i < 5; ++i) assertEquals(keys.length, f.addAll(keys, times).size());
    } finally {
      disturbing.interrupt();
      disturbing.join();
    }
  }
}
