package io.everseen;

import java.util.Arrays;

/** The verdicts of a batch, in the order of its keys. Immutable. */
public final class Verdicts {
  private final byte[] all;

  /** Takes the array over. */
  Verdicts(byte[] all) {
    this.all = all;
  }

  /** How many keys the batch had. */
  public int size() {
    return all.length;
  }

  /**
   * The verdict of a key.
   *
   * @param index of the key in its batch, from 0
   * @throws IndexOutOfBoundsException if the batch has no such key
   */
  public Verdict get(int index) {
    return Verdict.of(all[index]);
  }

  /** Whether a key was certainly not added before; see {@link #get}. */
  public boolean isFresh(int index) {
    return all[index] == 0;
  }

  /** How many keys have this verdict. Cost: proportional to {@link #size()}. */
  public int count(Verdict verdict) {
    int count = 0;
    for (byte each : all) if (each == verdict.ordinal()) ++count;
    return count;
  }

  /** A copy: the {@link Verdict#ordinal()} of each verdict. */
  public byte[] toBytes() {
    return all.clone();
  }

  @Override
  public boolean equals(Object other) {
    return other instanceof Verdicts && Arrays.equals(all, ((Verdicts) other).all);
  }

  @Override
  public int hashCode() {
    return Arrays.hashCode(all);
  }

  @Override
  public String toString() {
    StringBuilder text = new StringBuilder("[");
    for (int i = 0; i < all.length && i < 100; ++i) text.append(i == 0 ? "" : ", ").append(get(i));
    return text.append(all.length > 100 ? ", ... " + all.length + " in all]" : "]").toString();
  }
}
