package io.everseen;

import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;

/** Loads the library of this jar, or the one that the property {@code everseen.library} names. */
final class Library {
  private Library() {}

  static void load() {
    String given = System.getProperty("everseen.library");
    if (given != null) {
      System.load(Path.of(given).toAbsolutePath().toString());
      return;
    }
    String processor = System.getProperty("os.arch");
    String resource = "linux-" + (processor.equals("amd64") ? "x86_64" : processor) + "/libeverseen_jni.so";
    try (InputStream library = Library.class.getResourceAsStream(resource)) {
      if (library == null || !System.getProperty("os.name").equals("Linux"))
        throw new UnsatisfiedLinkError("this jar has no library for " + System.getProperty("os.name") + " on "
            + processor + "; run ./dev jar on such a machine and take that jar, or name a library for it by"
            + " -Deverseen.library=PATH");
      load(library);
    } catch (IOException why) {
      throw new UnsatisfiedLinkError("the library cannot be written to a temporary file (" + why
          + "); name another folder by -Djava.io.tmpdir=PATH");
    }
  }

  /** The file has no name once it is loaded, so none is left behind. */
  private static void load(InputStream library) throws IOException {
    Path file = Files.createTempFile("everseen-", ".so");
    try {
      Files.copy(library, file, StandardCopyOption.REPLACE_EXISTING);
      System.load(file.toString());
    } catch (UnsatisfiedLinkError why) {
      throw new UnsatisfiedLinkError(why.getMessage() + "; if programs may not run from " + file.getParent()
          + ", name another folder by -Djava.io.tmpdir=PATH");
    } finally {
      Files.delete(file);
    }
  }
}
