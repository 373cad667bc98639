package io.everseen;

/** No filter has this name, or it has expired. */
public final class NotFoundException extends EverseenException {
  private static final long serialVersionUID = 1;

  NotFoundException(String message, Verdicts verdicts) {
    super(message, verdicts);
  }
}
