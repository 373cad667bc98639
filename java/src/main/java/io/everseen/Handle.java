package io.everseen;

import java.lang.ref.Cleaner;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.LongConsumer;
import java.util.function.LongFunction;

/**
 * An object of the library, which is freed when it is closed and no call uses it any more. So a thread may close what
 * another is using, and what was not closed is freed once its owner is unreachable, even if a call of it still runs.
 */
final class Handle implements Runnable {
  private static final Cleaner CLEANER = Cleaner.create();
  private static final long CLOSED = 1L << 62;

  private final String what;
  private final long pointer;
  private final LongConsumer free;
  private final AtomicLong users = new AtomicLong(); // and CLOSED

  /** @param what it is, for the message that it is closed */
  Handle(String what, long pointer, LongConsumer free) {
    this.what = what;
    this.pointer = pointer;
    this.free = free;
  }

  /** Closes it at the end of its owner, too. */
  void ownedBy(Object owner) {
    CLEANER.register(owner, this);
  }

  /**
   * The pointer, which stays valid until {@link #leave()}.
   *
   * @throws IllegalStateException if it is closed
   */
  long enter() {
    long before = users.get();
    while (before < CLOSED && !users.compareAndSet(before, before + 1)) before = users.get();
    if (before >= CLOSED) throw new IllegalStateException("the " + what + " is closed");
    return pointer;
  }

  void leave() {
    if (users.decrementAndGet() == CLOSED) free.accept(pointer);
  }

  /** What a call makes of the pointer. */
  <T> T use(LongFunction<T> call) {
    long valid = enter();
    try {
      return call.apply(valid);
    } finally {
      leave();
    }
  }

  /** The same, of a call that returns nothing. */
  void run(LongConsumer call) {
    long valid = enter();
    try {
      call.accept(valid);
    } finally {
      leave();
    }
  }

  /** Closes it: by the time that any call of this returns, though others close it too, {@link #enter()} throws. */
  @Override
  public void run() {
    if (users.getAndUpdate(before -> before | CLOSED) == 0) free.accept(pointer);
  }
}
