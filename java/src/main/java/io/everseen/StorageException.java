package io.everseen;

/** A file cannot be read or written, or another process is writing to it. */
public final class StorageException extends EverseenException {
  private static final long serialVersionUID = 1;

  StorageException(String message, Verdicts verdicts) {
    super(message, verdicts);
  }
}
