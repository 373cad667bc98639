package io.everseen;

import java.nio.charset.StandardCharsets;

/** What can go wrong with a filter. Its message says what to do, in most cases. */
public class EverseenException extends RuntimeException {
  private static final long serialVersionUID = 1;

  private final transient Verdicts verdicts;

  EverseenException(String message, Verdicts verdicts) {
    super(message);
    this.verdicts = verdicts;
  }

  /**
   * Of a failed batch: {@link Verdict#UNKNOWN} for each key without an answer, which it is safe to add again; all
   * others hold. Null if the call has no keys or did not reach the filter, and in a copy that was deserialized.
   */
  public final Verdicts verdicts() {
    return verdicts;
  }

  /** Called by the library, with an everseen_status that is not 0. */
  static Throwable of(int status, byte[] utf8, byte[] all) {
    String message = new String(utf8, StandardCharsets.UTF_8);
    Verdicts verdicts = all == null ? null : new Verdicts(all);
    switch (status) {
      case 1: return new InvalidException(message, verdicts);
      case 2: return new NotFoundException(message, verdicts);
      case 3: return new NameTakenException(message, verdicts);
      case 4: return new FullException(message, verdicts);
      case 5: return new StorageException(message, verdicts);
      case 6: return new BackendException(message, verdicts);
      case 7: return new DamagedException(message, verdicts);
      case 8: return new OutOfMemoryError(message);
      default: return new EverseenException(message, verdicts);
    }
  }
}
