package io.everseen;

/** A filter of this name exists. */
public final class NameTakenException extends EverseenException {
  private static final long serialVersionUID = 1;

  NameTakenException(String message, Verdicts verdicts) {
    super(message, verdicts);
  }
}
