package io.everseen;

/** The filter was created with {@link Options.Growth#REFUSE} and is full. */
public final class FullException extends EverseenException {
  private static final long serialVersionUID = 1;

  FullException(String message, Verdicts verdicts) {
    super(message, verdicts);
  }
}
