package io.everseen;

import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The properties and the fill of a filter. doc/operations.md of everseen, "Figures of a filter", says what they are.
 */
public final class Info {
  private final String json;

  Info(String json) {
    this.json = json;
  }

  /** All figures, as a JSON object. */
  public String toJson() {
    return json;
  }

  /** The number of keys that it was created for; with a window, within it. */
  public long capacity() {
    return Long.parseLong(number("capacity"));
  }

  /** The promised share of new keys that are called seen. */
  public double errorRate() {
    return Double.parseDouble(number("error_rate"));
  }

  /** The number of keys that were added and have not expired. */
  public long keys() {
    return Long.parseLong(number("keys"));
  }

  /** Of all bit arrays. */
  public long bytes() {
    return Long.parseLong(number("bytes"));
  }

  /** The share of new keys that are called seen now, by the formulas. */
  public double errorRateNow() {
    return Double.parseDouble(number("error_rate_now"));
  }

  /** How many new keys were called seen so far, by the formulas. */
  public double expectedFalseSeen() {
    return Double.parseDouble(number("expected_false_seen"));
  }

  /** Keys are forgotten after this time, in ms; 0: never. */
  public long windowMs() {
    return Long.parseLong(number("window_ms"));
  }

  @Override
  public String toString() {
    return json;
  }

  /** Quotes within the name are escaped, so that only a member has this form. */
  private String number(String member) {
    Matcher found = Pattern.compile('"' + member + "\": *([-+.0-9eE]+)").matcher(json);
    if (!found.find()) throw new IllegalStateException("no number " + member + " in " + json);
    return found.group(1);
  }
}
