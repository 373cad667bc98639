package io.everseen;

/** A name, number or URL is invalid, or the filter can never take a key. */
public final class InvalidException extends EverseenException {
  private static final long serialVersionUID = 1;

  InvalidException(String message, Verdicts verdicts) {
    super(message, verdicts);
  }
}
