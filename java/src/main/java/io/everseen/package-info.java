/**
 * everseen: has this key ever been seen?
 *
 * <pre>{@code
 * try (Filter clicks = Filter.openOrCreate("redis://localhost", "clicks", new Options().capacity(10_000_000))) {
 *   if (clicks.add("user 17 on page 4") == Verdict.FRESH) count();
 *   Verdicts verdicts = clicks.addAll(List.of("a", "b", "a")); // FRESH, FRESH, SEEN
 * }
 * }</pre>
 *
 * <p>A key is any sequence of bytes, of any length, including zero. A text is the key of its UTF-8 bytes; a text with
 * half of a surrogate pair has none and is an {@link io.everseen.InvalidException}. No argument may be null unless its
 * description says so; otherwise the call throws a {@link java.lang.NullPointerException} and adds no key.
 *
 * <p>Stores are named by URLs: {@code mem:}, {@code file:DIRECTORY}, {@code redis://HOST:PORT}, {@code unix:/PATH},
 * {@code everseen://HOST:PORT} and more; the README of everseen has all of them, and their options.
 *
 * <p>Cost: in memory 30 to 70 ns per key in batches of a few thousand keys, and about half a microsecond for a single
 * key; on a server, a batch costs at least one round trip, so pass many keys per call. A batch takes memory for a copy
 * of its keys; keys in a direct {@link java.nio.ByteBuffer} are read where they are.
 *
 * <p>Threads: any number may use one filter concurrently. A virtual thread occupies its carrier during a call.
 */
package io.everseen;
