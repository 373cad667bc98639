package io.everseen;

import java.time.Duration;

/**
 * The properties of a new filter. What is not set has the default in parentheses, and {@link Filter#openOrCreate} does
 * not compare it with an existing filter.
 *
 * <p>Threads: to be used by one at a time. Each method returns this object, and throws {@link InvalidException} if its
 * argument is out of range.
 */
public final class Options {
  /** What becomes of a filter that has as many keys as its capacity. */
  public enum Growth {
    /** It grows and keeps its error rate. */
    GROW(1),
    /** It refuses further keys: {@link FullException}. */
    REFUSE(2),
    /** It takes them, with more errors. */
    OVERFILL(3);

    final int number; // of everseen.h

    Growth(int number) {
      this.number = number;
    }
  }

  /** How keys are hashed. */
  public enum Hash {
    /** Fast. */
    XXH3(1),
    /** For keys from untrusted sources, which may attack the hash. */
    SIPHASH(2);

    final int number; // of everseen.h

    Hash(int number) {
      this.number = number;
    }
  }

  /** Who judges the keys of a filter on Redis. */
  public enum Judge {
    /** The servers, by everseen's module. */
    SERVER(1),
    /** Each client, which holds the bits; the server keeps the order of keys. */
    CLIENT(2);

    final int number; // of everseen.h

    Judge(int number) {
      this.number = number;
    }
  }

  long capacity;
  double errorRate;
  long windowMs;
  int slices;
  int growth;
  int hash;
  int judge;
  long lifetimeMs;

  /** All defaults. */
  public Options() {}

  /** The expected number of different keys; with a window, within it: 1 to 2^48 (1,000,000). */
  public Options capacity(long keys) {
    capacity = within("capacity", keys, 1L << 48);
    return this;
  }

  /** The share of new keys that may be called seen: more than 0, less than 1 (1e-6). */
  public Options errorRate(double share) {
    if (!(share > 0 && share < 1))
      throw new InvalidException("errorRate=" + share + "; it must be between 0 and 1", null);
    errorRate = share;
    return this;
  }

  /** Forget keys after this time, of whole ms (never). */
  public Options window(Duration time) {
    windowMs = within("window in ms", milliseconds(time), Long.MAX_VALUE);
    return this;
  }

  /** The parts of the window, 1 to 1000 (10). A key is forgotten up to one part later. */
  public Options slices(int parts) {
    slices = (int) within("slices", parts, 1000);
    return this;
  }

  /** What becomes of a full filter ({@link Growth#GROW}). */
  public Options growth(Growth chosen) {
    growth = chosen.number;
    return this;
  }

  /** How keys are hashed ({@link Hash#XXH3}). */
  public Options hash(Hash chosen) {
    hash = chosen.number;
    return this;
  }

  /** Who judges on Redis (the servers if all of them have the module, else the clients). */
  public Options judge(Judge chosen) {
    judge = chosen.number;
    return this;
  }

  /** The whole filter expires after this time, of whole ms, used or not (never). */
  public Options lifetime(Duration time) {
    lifetimeMs = within("lifetime in ms", milliseconds(time), Long.MAX_VALUE);
    return this;
  }

  private static long milliseconds(Duration time) {
    try {
      return time.toMillis();
    } catch (ArithmeticException beyond) {
      throw new InvalidException("a time of " + time + " is too long", null);
    }
  }

  private static long within(String name, long given, long most) {
    if (given >= 1 && given <= most) return given;
    throw new InvalidException(name + "=" + given + "; it must be 1 to " + most, null);
  }
}
