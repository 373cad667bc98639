package io.everseen;

/** Stored or received bytes are damaged. */
public final class DamagedException extends EverseenException {
  private static final long serialVersionUID = 1;

  DamagedException(String message, Verdicts verdicts) {
    super(message, verdicts);
  }
}
