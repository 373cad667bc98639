import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Properties;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.concurrent.CountDownLatch;
import java.util.function.Consumer;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.ListOffsetsOptions;
import org.apache.kafka.clients.admin.OffsetSpec;
import org.apache.kafka.clients.consumer.ConsumerConfig;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.IsolationLevel;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.Serdes;
import org.apache.kafka.common.serialization.StringDeserializer;
import org.apache.kafka.common.serialization.StringSerializer;
import org.apache.kafka.streams.KafkaStreams;
import org.apache.kafka.streams.StreamsBuilder;
import org.apache.kafka.streams.StreamsConfig;
import org.apache.kafka.streams.errors.StreamsUncaughtExceptionHandler.StreamThreadExceptionResponse;
import org.apache.kafka.streams.kstream.Consumed;
import org.apache.kafka.streams.kstream.Produced;

/**
 * Events of a topic, each once, into another topic, exactly once.
 *
 * <p>run BROKERS STORE FOLDER is an instance, which makes the file FOLDER/working when it has had an event; send
 * BROKERS FILE sends events until the file exists; check BROKERS waits until all are processed, and compares the output
 * with the exact answer.
 */
public final class DropSeenEvents {
  private static final String INPUT = "clicks";
  private static final String OUTPUT = "first-clicks";
  private static final String APPLICATION = "drop-seen";
  private static final int KEYS = 100_000;
  private static final int EVENTS_PER_SECOND = 5_000;
  private static final Duration SHORT = Duration.ofMillis(200);

  private DropSeenEvents() {}

  public static void main(String[] words) throws Exception {
    switch (words[0]) {
      case "run": run(words[1], words[2], Path.of(words[3])); break;
      case "send": send(words[1], Path.of(words[2])); break;
      default: check(words[1]);
    }
  }

  private static void run(String brokers, String store, Path folder) throws InterruptedException {
    StreamsBuilder builder = new StreamsBuilder();
    builder.stream(INPUT, Consumed.with(Serdes.String(), Serdes.String()))
        .peek((user, click) -> working(folder))
        .processValues(DropSeen<String, String>::new)
        .to(OUTPUT, Produced.with(Serdes.String(), Serdes.String()));

    Properties settings = new Properties();
    settings.put(StreamsConfig.BOOTSTRAP_SERVERS_CONFIG, brokers);
    settings.put(StreamsConfig.APPLICATION_ID_CONFIG, APPLICATION);
    settings.put(StreamsConfig.STATE_DIR_CONFIG, folder.resolve("state").toString());
    settings.put(StreamsConfig.PROCESSING_GUARANTEE_CONFIG, StreamsConfig.EXACTLY_ONCE_V2);
    settings.put(StreamsConfig.NUM_STREAM_THREADS_CONFIG, 2);
    settings.put(StreamsConfig.consumerPrefix(ConsumerConfig.AUTO_OFFSET_RESET_CONFIG), "earliest");
    settings.put(StreamsConfig.consumerPrefix(ConsumerConfig.SESSION_TIMEOUT_MS_CONFIG), 6_000);

    CountDownLatch told = new CountDownLatch(1);
    Thread running = Thread.currentThread();
    Runtime.getRuntime().addShutdownHook(new Thread(() -> {
      told.countDown();
      joined(running);
    }));
    try (ClaimingClients clients =
            new ClaimingClients(store, "clicks", APPLICATION, Map.of(INPUT, event -> event.key()));
        KafkaStreams streams = new KafkaStreams(builder.build(), settings, clients)) {
      streams.setUncaughtExceptionHandler(why -> {
        why.printStackTrace();
        return StreamThreadExceptionResponse.REPLACE_THREAD;
      });
      streams.start();
      told.await();
    }
  }

  private static void joined(Thread thread) {
    try {
      thread.join();
    } catch (InterruptedException why) {
      Thread.currentThread().interrupt();
    }
  }

  private static void working(Path folder) {
    Path mark = folder.resolve("working");
    try {
      if (!Files.exists(mark)) Files.createFile(mark);
    } catch (IOException why) {
      // another thread made it
    }
  }

  private static void send(String brokers, Path enough) throws InterruptedException {
    SplittableRandom random = new SplittableRandom(1);
    try (KafkaProducer<String, String> producer =
        new KafkaProducer<>(Map.of("bootstrap.servers", brokers), new StringSerializer(), new StringSerializer())) {
      for (long sent = 0; !Files.exists(enough); ++sent) {
        producer.send(new ProducerRecord<>(INPUT, "user " + random.nextInt(KEYS), "click " + sent));
        if (sent % (EVENTS_PER_SECOND / 50) == 0) Thread.sleep(20);
      }
    }
  }

  private static void check(String brokers) throws Exception {
    try (Admin admin = Admin.create(Map.of("bootstrap.servers", brokers));
        KafkaConsumer<String, String> reader = new KafkaConsumer<>(
            Map.of("bootstrap.servers", brokers, "isolation.level", "read_committed", "auto.offset.reset", "earliest"),
            new StringDeserializer(), new StringDeserializer())) {
      Map<TopicPartition, Long> ends = ends(admin, INPUT, IsolationLevel.READ_UNCOMMITTED);
      Map<TopicPartition, Long> reached = new HashMap<>();
      while (!reached.equals(ends)) {
        Thread.sleep(200);
        admin.listConsumerGroupOffsets(APPLICATION).partitionsToOffsetAndMetadata().get()
            .forEach((partition, position) -> reached.put(partition, position.offset()));
      }
      // The transaction of a killed instance hides what others have committed after it, until it times out.
      while (!ends(admin, OUTPUT, IsolationLevel.READ_COMMITTED)
          .equals(ends(admin, OUTPUT, IsolationLevel.READ_UNCOMMITTED))) Thread.sleep(200);
      Set<String> expected = new HashSet<>();
      long[] events = {0};
      read(reader, ends, user -> {
        expected.add(user);
        ++events[0];
      });
      Map<String, Integer> written = new HashMap<>();
      read(reader, ends(admin, OUTPUT, IsolationLevel.READ_COMMITTED), user -> written.merge(user, 1, Integer::sum));
      long missing = expected.stream().filter(user -> !written.containsKey(user)).count();
      long repeated = written.values().stream().mapToLong(times -> times - 1).sum();
      System.out.printf("%d events, %d keys, %d in the output, %d missing, %d repeated%n", events[0], expected.size(),
          written.size(), missing, repeated);
      if (missing > 0 || repeated > 0 || !written.keySet().equals(expected)) System.exit(1);
      System.out.println("difference 0");
    }
  }

  private static Map<TopicPartition, Long> ends(Admin admin, String topic, IsolationLevel of) throws Exception {
    Map<TopicPartition, OffsetSpec> partitions = new HashMap<>();
    admin.describeTopics(Set.of(topic)).allTopicNames().get().get(topic).partitions()
        .forEach(each -> partitions.put(new TopicPartition(topic, each.partition()), OffsetSpec.latest()));
    Map<TopicPartition, Long> ends = new HashMap<>();
    admin.listOffsets(partitions, new ListOffsetsOptions(of)).all().get()
        .forEach((partition, end) -> ends.put(partition, end.offset()));
    return ends;
  }

  /** Reads a topic to its end, from its beginning. */
  private static void read(KafkaConsumer<String, String> reader, Map<TopicPartition, Long> ends,
      Consumer<String> visit) {
    reader.assign(ends.keySet());
    reader.seekToBeginning(ends.keySet());
    while (ends.entrySet().stream().anyMatch(end -> reader.position(end.getKey()) < end.getValue()))
      reader.poll(SHORT).forEach(event -> visit.accept(event.key()));
  }
}
