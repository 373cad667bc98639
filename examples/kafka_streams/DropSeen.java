import io.everseen.Verdict;
import org.apache.kafka.common.header.Header;
import org.apache.kafka.streams.processor.api.ContextualFixedKeyProcessor;
import org.apache.kafka.streams.processor.api.FixedKeyRecord;

/**
 * Passes on events that were never seen before, by this program or by anybody else who uses the filter: those that
 * {@link ClaimingClients} found fresh. To be the first processor after the source, as in {@code
 * builder.stream("clicks").processValues(DropSeen::new)}.
 */
public final class DropSeen<K, V> extends ContextualFixedKeyProcessor<K, V, V> {
  @Override
  public void process(FixedKeyRecord<K, V> event) {
    Header verdict = event.headers().lastHeader(ClaimingClients.VERDICT);
    if (verdict == null)
      throw new IllegalStateException("an event without a verdict: give its topic's key to ClaimingClients, and these "
          + "to the constructor of KafkaStreams");
    event.headers().remove(ClaimingClients.VERDICT);
    if (verdict.value()[0] == Verdict.FRESH.ordinal()) context().forward(event);
  }
}
