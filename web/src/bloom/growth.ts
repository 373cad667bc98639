/** How a filter grows: layer i holds capacity · 2^i keys at rate p / 2^(i+1), so that all rates together stay below p. */

import { bestProbes, classicRate } from "./rates";

export interface Layer {
  index: number;
  capacity: number; // keys
  keys: number; // in it now
  bits: number;
  probes: number;
  rateFull: number;
  rateNow: number;
}

function bitsFor(keys: number, rate: number, probes: number): number {
  return Math.ceil((-keys * probes) / Math.log1p(-(rate ** (1 / probes))));
}

/** The layers after so many keys. Scattered bits with the best number of probes a layer. */
export function layersAfter(keys: number, capacity: number, rate: number): Layer[] {
  const layers: Layer[] = [];
  let left = keys;
  do {
    const index = layers.length;
    const holds = capacity * 2 ** index;
    const rateFull = rate / 2 ** (index + 1);
    const probes = bestProbes(rateFull);
    const bits = bitsFor(holds, rateFull, probes);
    const inside = Math.min(left, holds);
    const rateNow = inside > 0 ? classicRate(probes, bits / inside) : 0;
    layers.push({ index, capacity: holds, keys: inside, bits, probes, rateFull, rateNow });
    left -= inside;
  } while (left > 0);
  return layers;
}

/** The chance that at least one layer errs. */
export function rateOfLayers(layers: readonly Layer[]): number {
  return 1 - layers.reduce((none, layer) => none * (1 - layer.rateNow), 1);
}

/** The rate of one array that was sized for `capacity` keys and holds `keys`. */
export function rateOverfilled(keys: number, capacity: number, rate: number): number {
  const probes = bestProbes(rate);
  return keys > 0 ? classicRate(probes, bitsFor(capacity, rate, probes) / keys) : 0;
}
