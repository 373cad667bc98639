import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Map;
import java.util.Properties;
import java.util.TreeMap;
import java.util.concurrent.atomic.AtomicLong;
import org.apache.kafka.clients.consumer.ConsumerConfig;
import org.apache.kafka.common.serialization.Serdes;
import org.apache.kafka.streams.KafkaStreams;
import org.apache.kafka.streams.StoreQueryParameters;
import org.apache.kafka.streams.StreamsConfig;
import org.apache.kafka.streams.Topology;
import org.apache.kafka.streams.errors.StreamsUncaughtExceptionHandler.StreamThreadExceptionResponse;
import org.apache.kafka.streams.processor.api.Processor;
import org.apache.kafka.streams.processor.api.ProcessorContext;
import org.apache.kafka.streams.processor.api.Record;
import org.apache.kafka.streams.state.KeyValueStore;
import org.apache.kafka.streams.state.QueryableStoreTypes;
import org.apache.kafka.streams.state.Stores;

/**
 * The peer of {@code bench/broker_bench.py}: drops repeated events of a topic with Kafka Streams, exactly once, and
 * counts the others or forwards them.
 *
 * <p>usage: KafkaStreamsPeer BROKERS TOPIC EVENTS STATE_DIRECTORY [OUTPUT_TOPIC]
 *
 * <p>The keys that were seen are in a persistent store (RocksDB) with a changelog, as an exactly-once topology has
 * them. It is written to be fast: a record's key is the id, so no JSON is parsed for it; the three fields that name a
 * counter are cut out of the text; counters are in a second store of the same task, where groupBy() would send each
 * event through another topic. With OUTPUT_TOPIC, there are no counters. Ends after EVENTS events; prints the seconds
 * from the first event to the last commit, then the counters as CSV.
 */
public final class KafkaStreamsPeer {
  private static final AtomicLong processed = new AtomicLong();
  private static volatile long began;

  private static final class DropRepeats implements Processor<byte[], byte[], byte[], byte[]> {
    private static final byte[] present = {1};
    private final boolean counts;
    private ProcessorContext<byte[], byte[]> context;
    private KeyValueStore<byte[], byte[]> seen;
    private KeyValueStore<String, Long> counters;

    DropRepeats(boolean counts) {
      this.counts = counts;
    }

    @Override
    public void init(ProcessorContext<byte[], byte[]> of) {
      context = of;
      seen = of.getStateStore("seen");
      if (counts) counters = of.getStateStore("counters");
    }

    @Override
    public void process(Record<byte[], byte[]> event) {
      if (began == 0) began = System.nanoTime();
      if (seen.putIfAbsent(event.key(), present) == null) {
        if (counts) {
          final String counter = counterOf(new String(event.value(), StandardCharsets.ISO_8859_1));
          final Long before = counters.get(counter);
          counters.put(counter, before == null ? 1 : before + 1);
        } else {
          context.forward(event);
        }
      }
      processed.incrementAndGet();
    }

    /** Ten minutes, site and country. */
    private static String counterOf(String json) {
      return field(json, "\"time\":\"", 15) + "0:00Z," + field(json, "\"site\":\"", 0) + ','
          + field(json, "\"country\":\"", 0);
    }

    /** The string after a name: so many characters of it, or all. */
    private static String field(String json, String name, int length) {
      final int begin = json.indexOf(name) + name.length();
      return json.substring(begin, length > 0 ? begin + length : json.indexOf('"', begin));
    }
  }

  private static Topology topology(String topic, String output) {
    final Topology all = new Topology();
    all.addSource("events", Serdes.ByteArray().deserializer(), Serdes.ByteArray().deserializer(), topic);
    all.addProcessor("drop repeats", () -> new DropRepeats(output == null), "events");
    all.addStateStore(
        Stores.keyValueStoreBuilder(Stores.persistentKeyValueStore("seen"), Serdes.ByteArray(), Serdes.ByteArray()),
        "drop repeats");
    if (output == null) {
      all.addStateStore(
          Stores.keyValueStoreBuilder(Stores.persistentKeyValueStore("counters"), Serdes.String(), Serdes.Long())
              .withCachingEnabled(),
          "drop repeats");
    } else {
      all.addSink("output", output, Serdes.ByteArray().serializer(), Serdes.ByteArray().serializer(), "drop repeats");
    }
    return all;
  }

  /** The counters of all tasks, added together. */
  private static Map<String, Long> counts(KafkaStreams running) {
    final Map<String, Long> sums = new TreeMap<>();
    try (var all = running.store(
        StoreQueryParameters.fromNameAndType("counters", QueryableStoreTypes.<String, Long>keyValueStore())).all()) {
      all.forEachRemaining(counter -> sums.merge(counter.key, counter.value, Long::sum));
    }
    return sums;
  }

  public static void main(String[] arguments) throws InterruptedException {
    final String output = arguments.length > 4 ? arguments[4] : null;
    final Properties settings = new Properties();
    settings.put(StreamsConfig.BOOTSTRAP_SERVERS_CONFIG, arguments[0]);
    settings.put(StreamsConfig.APPLICATION_ID_CONFIG, "streams-peer-" + ProcessHandle.current().pid());
    settings.put(StreamsConfig.STATE_DIR_CONFIG, arguments[3]);
    settings.put(StreamsConfig.PROCESSING_GUARANTEE_CONFIG, StreamsConfig.EXACTLY_ONCE_V2);
    settings.put(StreamsConfig.NUM_STREAM_THREADS_CONFIG, 2);
    settings.put(StreamsConfig.consumerPrefix(ConsumerConfig.AUTO_OFFSET_RESET_CONFIG), "earliest");
    settings.put(StreamsConfig.consumerPrefix(ConsumerConfig.MAX_POLL_RECORDS_CONFIG), 10_000);

    final KafkaStreams running = new KafkaStreams(topology(arguments[1], output), settings);
    running.setUncaughtExceptionHandler(fault -> {
      fault.printStackTrace();
      Runtime.getRuntime().halt(1);
      return StreamThreadExceptionResponse.SHUTDOWN_APPLICATION;
    });
    running.start();
    final long events = Long.parseLong(arguments[2]);
    while (processed.get() < events) Thread.sleep(5);
    final Map<String, Long> counts = output == null ? counts(running) : Map.of();
    if (!running.close(Duration.ofMinutes(2))) Runtime.getRuntime().halt(1);
    System.out.println((System.nanoTime() - began) / 1e9);
    counts.forEach((counter, count) -> System.out.println(counter + ',' + count));
  }
}
