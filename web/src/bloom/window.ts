/** How time maps to slices: slice i covers [i, i + 1) · width / slices, and with the newest N, N − slices … N are live. */

export interface Window {
  width: number; // seconds
  slices: number;
}

export function sliceWidth(window: Window): number {
  return window.width / window.slices;
}

export function sliceAt(window: Window, time: number): number {
  return Math.floor(time / sliceWidth(window));
}

export function oldestLive(window: Window, now: number): number {
  return sliceAt(window, now) - window.slices;
}

/** When a key that came at `time` is forgotten: when the slice after the last that remembers it begins. */
export function forgottenAt(window: Window, time: number): number {
  return (sliceAt(window, time) + window.slices + 1) * sliceWidth(window);
}

export function remembers(window: Window, time: number, now: number): boolean {
  return sliceAt(window, time) >= oldestLive(window, now);
}
