package io.everseen;

/** A server does not answer, or refuses. */
public final class BackendException extends EverseenException {
  private static final long serialVersionUID = 1;

  BackendException(String message, Verdicts verdicts) {
    super(message, verdicts);
  }
}
