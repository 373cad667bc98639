/** Learn, in English. learn_zh.tsx says the same. */

import type { ComponentChildren } from "preact";

export const learn = {
  title: "Bloom filters by example",
  lead: (
    <>
      A Bloom filter remembers words in a few bits each. Its <em>no</em> is certain, its <em>maybe</em> is sometimes wrong.
      Three words are in this one: ask for a word.
    </>
  ),
  contents: "Chapters",

  row: {
    size: "Bits in the row",
    probes: "Probes per word",
    addLabel: "Add a word",
    addPlaceholder: "any word",
    addButton: "Add",
    random: "Add a random word",
    empty: "Remove all words",
    askLabel: "Ask for a word",
    askPlaceholder: "any word",
    fool: "Find a word that fools it",
    fooledNot: "No word that this page knows fools the row yet. Add more words.",
    fooledOnly: "No other word that this page knows fools the row.",
    set: "Words in it",
    setEmpty: "none yet",
    askFor: (word: string) => `Ask for “${word}”`,
    setNote: "Only this page keeps the words, to tell you when the filter is wrong. The filter itself has nothing but the bits.",
    addIdle: "Hash functions turn a word into numbers. Divided by the number of bits, the remainder of each picks a bit.",
    addPreview: (word: string, fresh: number) =>
      fresh === 0
        ? `“${word}” would switch on no further bit: all its bits are on.`
        : `“${word}” would switch on ${fresh === 1 ? "1 bit" : `${fresh} bits`}.`,
    added: (word: string, bits: string) => `Added “${word}”: ${bits} on.`,
    already: (word: string) => `“${word}” is in it already.`,
    emptied: "All bits are off.",
    bits: (positions: readonly number[]) =>
      positions.length === 1 ? `bit ${positions[0]} is` : `bits ${list(positions)} are`,
    askIdle: "Type a word: the answer comes with each letter.",
    no: "Certainly not.",
    noWhy: (word: string, bits: string) => `${bits} off. If “${word}” had been added, all its bits would be on.`,
    maybe: "Maybe.",
    maybeTrue: (word: string, bits: string) => `${bits} on, and “${word}” was really added.`,
    maybeFalse: (word: string, bits: string) =>
      `${bits} on, but because of other words: “${word}” was never added. This is a false positive.`,
    bit: (index: number, by: readonly string[]) => `bit ${index}, ${by.length > 0 ? `on by ${by.join(", ")}` : "off"}`,
    rowLabel: (on: number, size: number) => `The row: ${on} of ${size} bits on`,
    hashesLabel: (word: string) => `Hash values of “${word}”`,
    hashesIdle: "The hash values of the word that you type appear here.",
    noHash: "hash value",
    sum: (steps: number) => (steps === 1 ? "FNV-1a + Murmur3" : `FNV-1a + ${steps} · Murmur3`),
    picks: (size: number, position: string) => `mod ${size} = ${position}`,
    chance: "Chance of a wrong answer now",
    chanceWhy: (on: number, size: number, probes: number) =>
      `${on} of ${size} bits are on. A word that was never added finds ${probes === 1 ? "its bit" : `all ${probes} of its bits`} on with a chance of (${on}/${size})${power(probes)}.`,
    curve: "The curve shows what to expect as words are added. The dot is this row.",
    curveLabel: (words: number, chance: string) =>
      `Curve of the chance of a false positive against words added. With ${words} words, this row is at ${chance}.`,
    words: "words added",
    afterword: (
      <>
        That is the whole idea. A bit that is on stays on. So a word that was added is always found, and{" "}
        <strong>no</strong> is certain. Only <strong>maybe</strong> can be wrong, and you choose how often. The chapters
        below are about that choice.
      </>
    ),
  },

  size: {
    title: "Choose a size",
    text: (
      <>
        Choose how many words you expect, and how many wrong answers are acceptable. Ten times fewer wrong answers cost 4.8
        more bits per word, however long the words are.
      </>
    ),
    keys: "Expected words",
    rate: "Wrong answers to new words",
    perWord: "bits per word",
    probes: "probes",
    filter: "Bloom filter",
    hashSet: "set of 64-bit hashes",
    plain: "the words themselves, 20 bytes each",
    compare: "Memory",
    curve: "Error rate against bits per word. Each line down has a tenth of the wrong answers.",
    bitsAxis: "bits per word",
  },

  probes: {
    title: "How many probes",
    text: (
      <>
        With one probe, any bit that is on can fool the filter. With many probes, each word switches on many bits, and soon
        most are on. The best number lies between: 0.69 times the bits per word. Then half of the bits are on.
      </>
    ),
    bits: "Bits per word",
    probes: "Probes",
    share: (percent: string) => `${percent} of the bits are on`,
    rate: "wrong answers",
    best: (probes: number, rate: string) => `Best here: ${probes} probes, ${rate}.`,
    isBest: (probes: number) => `${probes} is the best number here.`,
    useBest: "Use the best",
    gridLabel: (percent: string) => `A row of 256 bits of which ${percent} are on`,
    probesAxis: "probes",
  },

  cost: {
    title: "What an answer costs",
    text: (
      <>
        Computing is nearly free, but waiting for memory is not. A processor reads memory in lines of 64 bytes, and
        scattered bits are in as many lines as there are probes. everseen puts all bits of a word into one or two lines,
        which takes a little more space. Move the error rate to see the price.
      </>
    ),
    rate: "Error rate",
    layout: "layout",
    bits: "bits per word",
    lines: "lines read",
    picked: "everseen's choice",
    note: "A look-up takes 2 ns if the filter fits the processor's cache, and 10 ns in a filter of half a gigabyte, as everseen requests thirty lines at a time.",
    hashSet: "hash set",
  },

  line: {
    title: "Inside a cache line",
    text: (
      <>
        This is everseen's layout line-8x64 with its real hash, SipHash: four lines, each of eight machine words of 64 bits.
        One half of the hash value (the digest) chooses the line. The other half chooses one bit in each machine word. The
        processor tests all eight in one step.
      </>
    ),
    addLabel: "Add a word to the lines",
    addButton: "Add",
    fifty: "Add 50 words",
    empty: "Empty the lines",
    digest: "digest",
    chosen: (line: number) => `Line ${line} is chosen`,
    gridLabel: (line: number, on: number) => `Line ${line}: eight words of 64 bits, ${on} of 512 bits on`,
    lineShort: (line: number, on: number) => `line ${line}: ${on} of 512 bits on`,
    status: (words: number, chance: string) => `${words} words in four lines. The chance that a new word is called seen is ${chance}.`,
    verdictSeen: "Maybe: all eight bits are on.",
    verdictFresh: (off: number) => `Certainly not: ${off} of its eight bits ${off === 1 ? "is" : "are"} off.`,
    seed: "The seed of the hash is 00 01 02 … 0f here. In a real filter it is random and secret, so that strangers cannot choose words that collide.",
  },

  growth: {
    title: "More words than expected",
    text: (
      <>
        A row for a thousand words is wrong more and more often when it gets ten thousand. So everseen adds layers. Each has
        room for twice as many words as the one before, at half its error rate. ½ + ¼ + ⅛ + … never reaches 1, so all layers
        together stay below the promised rate.
      </>
    ),
    keys: "Words added",
    made: "Created for 1,000 words and an error rate of 1 %.",
    layer: (index: number, holds: string, bytes: string, full: string, now: string) =>
      `layer ${index}: up to ${holds} words in ${bytes}, error rate at most ${full}, now ${now}`,
    words: "words",
    growing: "with layers",
    overfilled: "one row, overfilled",
    promise: "promised",
    status: (layers: number, grown: string, over: string) =>
      `${layers === 1 ? "1 layer" : `${layers} layers`}: ${grown} of new words get a wrong answer. In one row: ${over}.`,
    chartLabel: (grown: string, over: string) =>
      `Error rate against words: with layers it stays below 1 % and is now ${grown}; in one row it is ${over}.`,
  },

  window: {
    title: "Forgetting",
    text: (
      <>
        A single word cannot be removed, as other words may share its bits. But a filter can forget by age. Time is cut into
        slices, each with its own bits, and the oldest slice is dropped whole. A word is remembered at least for the window,
        and at most for one slice more.
      </>
    ),
    slices: "Slices in a window of 10 minutes",
    now: "Time",
    add: "Add “alice” now",
    play: "Run",
    pause: "Pause",
    reset: "Start again",
    never: "“alice” has not been added yet.",
    seen: (left: string) => `“alice” is remembered for ${left} more.`,
    forgotten: (after: string) => `“alice” is forgotten. The filter remembered it for ${after}.`,
    price: (live: number, rate: string) =>
      `Every look-up asks ${live} slices, so each gets 1/${live} of the error rate: ${rate} of 1 %.`,
    diagram: (now: string, live: number) => `Slices of time. It is ${now}; ${live} slices are remembered.`,
    fillingNow: "being filled",
    live: "remembered",
    gone: "dropped",
  },

  formulas: {
    title: "The formulas",
    text: (
      <>
        What the chapters above show, for any filter of <i>m</i> bits that holds <i>n</i> keys, with <i>k</i> probes for each
        key. The error rate <i>p</i> is the probability that a new key is called seen. The figures are those of the numbers
        that you choose here.
      </>
    ),
    bits: "Bits per key m/n",
    probes: "Probes k",
    share: "Share of the bits that are on",
    rate: "Error rate",
    best: "Best number of probes",
    bestRate: "Error rate with the best number of probes",
    size: "Bits per key for this error rate, with the best number of probes",
    hashes: "Any number of probes from two hash values",
    line: (keys: ComponentChildren) => (
      <>
        Error rate if all bits of a key are in one cache line of <i>s</i> words of <i>w</i> bits, with {keys} keys in a line
        on average. The figure is for line-8x64.
      </>
    ),
    twoLines: "The same for two cache lines. The figure is for two-line-8x64.",
    layers: "Error rate of all layers of a filter that grows",
    references: "References",
    reference: (number: number) => `Reference ${number}`,
    papers: {
      bloom: "The filter, and its error rate.",
      hashes: "Why two hash values are enough.",
      blocked: "Filters whose bits of a key are in one cache line, called blocked.",
    },
  },

  onwards: {
    title: "Now your own filter",
    text: "Plan computes what a filter for your keys would cost. Watch shows the filters of this server at work.",
    plan: "Plan a filter",
    watch: "Watch this server",
  },
};

function list(numbers: readonly number[]): string {
  return numbers.length < 2 ? numbers.join("") : `${numbers.slice(0, -1).join(", ")} and ${numbers[numbers.length - 1]}`;
}

function power(n: number): string {
  return n === 1 ? "" : [..."⁰¹²³⁴⁵⁶⁷⁸⁹"][n];
}

export type LearnText = typeof learn;
