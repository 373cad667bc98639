package io.everseen;

/** The answer about a key. */
public enum Verdict {
  /** Certainly not added before. */
  FRESH,
  /** Probably added before; wrong for at most the error rate of new keys. */
  SEEN,
  /** Older than the window: neither judged nor added. */
  LATE,
  /** A failure hid the answer; adding the key again is safe. Only {@link EverseenException#verdicts()} has it. */
  UNKNOWN;

  private static final Verdict[] ALL = values();

  static Verdict of(int number) {
    return ALL[number];
  }
}
