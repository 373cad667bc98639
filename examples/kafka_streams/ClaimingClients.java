import io.everseen.Filter;
import io.everseen.Job;
import io.everseen.Options;
import io.everseen.Verdicts;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Function;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.consumer.Consumer;
import org.apache.kafka.clients.consumer.ConsumerGroupMetadata;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.ConsumerRecords;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.Producer;
import org.apache.kafka.clients.producer.ProducerConfig;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.apache.kafka.streams.KafkaClientSupplier;

/**
 * The clients of Kafka of a Streams program that drops events seen before. The consumers claim what they have polled,
 * and give each event its verdict as a header, which {@link DropSeen} reads; the producers settle what they have
 * committed.
 *
 * <p>So the verdict of an event is kept with the filter until the transaction is committed that has the event's offset
 * and what became of it. Whoever reads the event again before that, after a crash or an aborted transaction, gets the
 * verdict of its first claim.
 *
 * <p>Threads: any number. An {@link io.everseen.EverseenException} of a claim or a settlement ends the thread of
 * Streams; one that takes its place loses nothing.
 */
public final class ClaimingClients implements KafkaClientSupplier, AutoCloseable {
  static final String VERDICT = "everseen";

  private final Map<String, Function<ConsumerRecord<byte[], byte[]>, byte[]>> keys;
  private final Filter filter;
  private final Job job;
  private final Map<String, Object> claiming = new ConcurrentHashMap<>();

  /**
   * @param name of the filter
   * @param job its name: that of the program, such as its application.id
   * @param keys by topic, what identifies an event; other topics pass without verdicts
   */
  public ClaimingClients(String store, String name, String job,
      Map<String, Function<ConsumerRecord<byte[], byte[]>, byte[]>> keys) {
    this.keys = Map.copyOf(keys);
    filter = Filter.openOrCreate(store, name, new Options().capacity(1_000_000).errorRate(1e-9));
    this.job = filter.job(job, "drops events that were seen before");
  }

  @Override
  public Consumer<byte[], byte[]> getConsumer(Map<String, Object> settings) {
    return new KafkaConsumer<byte[], byte[]>(settings, new ByteArrayDeserializer(), new ByteArrayDeserializer()) {
      private final Map<TopicPartition, Long> next = new HashMap<>();

      @Override
      public ConsumerRecords<byte[], byte[]> poll(Duration timeout) {
        ConsumerRecords<byte[], byte[]> records = super.poll(timeout);
        next.keySet().retainAll(assignment());
        for (TopicPartition partition : records.partitions())
          if (keys.containsKey(partition.topic())) claim(partition, records.records(partition), next);
        return records;
      }
    };
  }

  /** @throws IllegalArgumentException without transactions, which are what is settled */
  @Override
  public Producer<byte[], byte[]> getProducer(Map<String, Object> settings) {
    if (!settings.containsKey(ProducerConfig.TRANSACTIONAL_ID_CONFIG))
      throw new IllegalArgumentException("only with processing.guarantee=exactly_once_v2 are events dropped once");
    return new KafkaProducer<byte[], byte[]>(settings, new ByteArraySerializer(), new ByteArraySerializer()) {
      private final Map<TopicPartition, OffsetAndMetadata> open = new HashMap<>();

      @Override
      public void beginTransaction() {
        super.beginTransaction();
        open.clear(); // those of a transaction that was aborted
      }

      @Override
      public void sendOffsetsToTransaction(Map<TopicPartition, OffsetAndMetadata> offsets,
          ConsumerGroupMetadata group) {
        super.sendOffsetsToTransaction(offsets, group);
        open.putAll(offsets);
      }

      @Override
      public void commitTransaction() {
        super.commitTransaction();
        open.forEach((partition, reached) -> {
          if (keys.containsKey(partition.topic())) job.settle(source(partition), reached.offset());
        });
      }
    };
  }

  @Override
  public Consumer<byte[], byte[]> getRestoreConsumer(Map<String, Object> settings) {
    return new KafkaConsumer<>(settings, new ByteArrayDeserializer(), new ByteArrayDeserializer());
  }

  @Override
  public Consumer<byte[], byte[]> getGlobalConsumer(Map<String, Object> settings) {
    return getRestoreConsumer(settings);
  }

  @Override
  public Admin getAdmin(Map<String, Object> settings) {
    return Admin.create(settings);
  }

  /** To be called when Streams has ended. */
  @Override
  public void close() {
    job.close();
    filter.close();
  }

  private void claim(TopicPartition partition, List<ConsumerRecord<byte[], byte[]>> records,
      Map<TopicPartition, Long> next) {
    String source = source(partition);
    byte[][] events = new byte[records.size()][];
    long[] positions = new long[records.size()];
    for (int i = 0; i < events.length; ++i) {
      events[i] = keys.get(partition.topic()).apply(records.get(i));
      positions[i] = records.get(i).offset();
    }
    // A thread that was slow may still claim what another one has taken over.
    synchronized (claiming.computeIfAbsent(source, any -> new Object())) {
      if (positions[0] < next.getOrDefault(partition, Long.MAX_VALUE)) mustNotBeSettled(source, positions[0]);
      Verdicts verdicts = job.claim(source, events, positions);
      for (int i = 0; i < events.length; ++i)
        records.get(i).headers().remove(VERDICT).add(VERDICT, new byte[] {(byte) verdicts.get(i).ordinal()});
    }
    next.put(partition, positions[positions.length - 1] + 1);
  }

  private void mustNotBeSettled(String source, long position) {
    long settled = job.settled(source);
    if (settled > position)
      throw new IllegalStateException(source + " is settled up to " + settled + ", so it cannot be read again from "
          + position + ", where the group continues: reset the group to " + settled
          + ", or take another name of the filter");
  }

  private static String source(TopicPartition partition) {
    return partition.topic() + "/" + partition.partition();
  }
}
