/** How the page asks for what changes. */

/**
 * Of a server's time an open page takes a tenth: where answers take long, pauses are longer. But one answer that came
 * late must not leave the page still for minutes.
 */
const pausesAnAnswer = 9;
const longestPauseMs = 30_000;

/**
 * Asks again and again, `everyMs` after each answer: never two questions at a time, and none while nobody looks.
 * @param ask  is told when its answer is no longer wanted; its faults are its own to show
 * @return what ends it
 */
export function keepAsking(ask: (signal: AbortSignal) => Promise<void>, everyMs: number): () => void {
  const aborter = new AbortController();
  let timer = 0;
  const turn = async (): Promise<void> => {
    const began = performance.now();
    if (!document.hidden) await ask(aborter.signal);
    if (aborter.signal.aborted) return;
    const pause = Math.min((performance.now() - began) * pausesAnAnswer, longestPauseMs);
    timer = window.setTimeout(turn, Math.max(everyMs, pause));
  };
  void turn();
  return () => {
    clearTimeout(timer);
    aborter.abort();
  };
}
