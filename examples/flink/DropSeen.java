import io.everseen.Filter;
import io.everseen.Job;
import io.everseen.Options;
import io.everseen.Verdicts;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.apache.flink.api.common.state.ListState;
import org.apache.flink.api.common.state.ListStateDescriptor;
import org.apache.flink.api.common.typeinfo.Types;
import org.apache.flink.api.java.tuple.Tuple2;
import org.apache.flink.runtime.state.StateInitializationContext;
import org.apache.flink.runtime.state.StateSnapshotContext;
import org.apache.flink.streaming.api.operators.AbstractStreamOperator;
import org.apache.flink.streaming.api.operators.BoundedOneInput;
import org.apache.flink.streaming.api.operators.ChainingStrategy;
import org.apache.flink.streaming.api.operators.OneInputStreamOperator;
import org.apache.flink.streaming.api.watermark.Watermark;
import org.apache.flink.streaming.runtime.streamrecord.StreamRecord;

/**
 * Passes on events whose key was never seen before, by this job of Flink or by anybody else who uses the filter.
 *
 * <p>The verdict of an event is kept with the filter until a checkpoint is complete that has the event behind it. So a
 * job that is restored from its newest checkpoint, and reads the same events again, passes on the same ones.
 *
 * <p>The operator must follow the source without a shuffle, since positions of a lane (a partition of a topic, say)
 * ascend. Events wait for others, at most until the next checkpoint.
 */
public final class DropSeen extends AbstractStreamOperator<DropSeen.Event>
    implements OneInputStreamOperator<DropSeen.Event, DropSeen.Event>, BoundedOneInput {
  private static final long serialVersionUID = 1;
  private static final int BATCH = 1000; // a batch costs as many round trips to the store as a single event

  /** What a source delivers. */
  public static final class Event {
    public int lane;
    public long position;
    public String key;
  }

  private final String store;
  private final String name;
  private transient Filter filter;
  private transient Job job;
  private transient ListState<Tuple2<Integer, Long>> reached; // of each lane, as of a checkpoint
  private transient Map<Integer, Long> next; // of each lane, the position behind the last event that was judged
  private transient TreeMap<Long, Map<Integer, Long>> checkpoints; // those not complete yet, with what was next then
  private transient List<StreamRecord<Event>> waiting;

  /** @param name of the filter */
  public DropSeen(String store, String name) {
    this.store = store;
    this.name = name;
    chainingStrategy = ChainingStrategy.ALWAYS;
  }

  @Override
  public void initializeState(StateInitializationContext context) throws Exception {
    super.initializeState(context);
    next = new HashMap<>();
    checkpoints = new TreeMap<>();
    waiting = new ArrayList<>();
    filter = Filter.openOrCreate(store, name, new Options().capacity(1_000_000).errorRate(1e-9));
    job = filter.job("flink", "drops events that were seen before");
    reached = context.getOperatorStateStore()
        .getListState(new ListStateDescriptor<>("reached", Types.TUPLE(Types.INT, Types.LONG)));
    // The checkpoint is complete. Another instance may have the lane now, so this one's state no longer has it.
    for (Tuple2<Integer, Long> lane : reached.get()) settle(lane.f0, lane.f1);
  }

  @Override
  public void processElement(StreamRecord<Event> record) {
    waiting.add(record.copy(record.getValue()));
    if (waiting.size() == BATCH) judge();
  }

  @Override
  public void processWatermark(Watermark mark) throws Exception {
    judge();
    super.processWatermark(mark);
  }

  @Override
  public void prepareSnapshotPreBarrier(long checkpoint) {
    judge();
  }

  @Override
  public void endInput() {
    judge();
  }

  @Override
  public void snapshotState(StateSnapshotContext context) throws Exception {
    super.snapshotState(context);
    List<Tuple2<Integer, Long>> all = new ArrayList<>();
    next.forEach((lane, position) -> all.add(Tuple2.of(lane, position)));
    reached.update(all);
    checkpoints.put(context.getCheckpointId(), new HashMap<>(next));
  }

  @Override
  public void notifyCheckpointComplete(long checkpoint) throws Exception {
    super.notifyCheckpointComplete(checkpoint);
    Map.Entry<Long, Map<Integer, Long>> complete = checkpoints.floorEntry(checkpoint);
    if (complete != null) complete.getValue().forEach(this::settle);
    checkpoints.headMap(checkpoint, true).clear();
  }

  @Override
  public void close() throws Exception {
    if (job != null) job.close();
    if (filter != null) filter.close();
    super.close();
  }

  /** Passes on those of the waiting events that are fresh, in their order. */
  private void judge() {
    Map<Integer, List<StreamRecord<Event>>> lanes = new TreeMap<>();
    for (StreamRecord<Event> each : waiting)
      lanes.computeIfAbsent(each.getValue().lane, lane -> new ArrayList<>()).add(each);
    waiting.clear();
    lanes.forEach((lane, events) -> {
      List<String> keys = new ArrayList<>();
      long[] positions = new long[events.size()];
      for (StreamRecord<Event> each : events) {
        positions[keys.size()] = each.getValue().position;
        keys.add(each.getValue().key);
      }
      Verdicts verdicts = job.claim(Integer.toString(lane), keys, positions);
      for (int i = 0; i < events.size(); ++i) if (verdicts.isFresh(i)) output.collect(events.get(i));
      next.put(lane, positions[positions.length - 1] + 1);
    });
  }

  private void settle(int lane, long position) {
    String source = Integer.toString(lane);
    long settled = job.settled(source);
    if (settled > position)
      throw new IllegalStateException("lane " + lane + " is settled up to " + settled + ", so a state of " + position
          + " cannot be restored: take the newest checkpoint, or another name of the filter");
    job.settle(source, position);
  }
}
