/** Learn, in English. learn_zh.tsx says the same. */

export const learn = {
  title: "Bloom filters by example",
  lead: (
    <>
      A Bloom filter remembers which words it has seen, in a few bits each: its <em>no</em> is certain, its{" "}
      <em>maybe</em> is now and then wrong. Type a word.
    </>
  ),
  contents: "Chapters",

  row: {
    size: "Bits in the row",
    probes: "Probes a word",
    addLabel: "Add a word",
    addPlaceholder: "type here",
    addButton: "Add",
    random: "Add any word",
    empty: "Empty the row",
    askLabel: "Ask for a word",
    askPlaceholder: "was it added?",
    fool: "Find a word that fools it",
    fooledNot: "None of the words that this page knows fools the row yet. Add more.",
    set: "Your set",
    setEmpty: "Nothing yet.",
    askFor: (word: string) => `Ask for “${word}”`,
    setNote: "Only this page keeps the list, so that it can tell you when the row is wrong. The filter has the bits alone.",
    addIdle: "Two hash functions turn a word into two numbers. What is left after dividing by the length of the row picks a bit.",
    addPreview: (word: string, fresh: number) =>
      fresh === 0
        ? `“${word}” would switch on nothing new: all its bits are on.`
        : `“${word}” would switch on ${fresh === 1 ? "1 bit" : `${fresh} bits`}.`,
    added: (word: string, bits: string) => `Added “${word}”: ${bits} on.`,
    already: (word: string) => `“${word}” is in the set already.`,
    emptied: "The row is empty.",
    bits: (positions: readonly number[]) =>
      positions.length === 1 ? `bit ${positions[0]} is` : `bits ${list(positions)} are`,
    askIdle: "Type, and the row answers at each letter.",
    no: "No, certainly.",
    noWhy: (word: string, bits: string) => `${bits} off. Adding “${word}” would have switched that on.`,
    maybe: "Maybe.",
    maybeTrue: (word: string, bits: string) => `${bits} on, and “${word}” was indeed added.`,
    maybeFalse: (word: string, bits: string) =>
      `${bits} on, but by other words: “${word}” was never added. This is a false positive.`,
    bit: (index: number, by: readonly string[]) => `bit ${index}, ${by.length > 0 ? `on by ${by.join(", ")}` : "off"}`,
    rowLabel: (on: number, size: number) => `The row: ${on} of ${size} bits on`,
    hashesLabel: (word: string) => `Hash values of “${word}”`,
    hashesIdle: "The hash values of the word that you type appear here.",
    sum: (steps: number) => (steps === 1 ? "FNV-1a + Murmur3" : `FNV-1a + ${steps} · Murmur3`),
    picks: (size: number, position: number) => `mod ${size} = ${position}`,
    chance: "Chance of being wrong now",
    chanceWhy: (on: number, size: number, probes: number) =>
      `${on} of ${size} bits are on. A word that was never added meets ${probes === 1 ? "one that is on" : `${probes} that are on`} with chance (${on}/${size})${power(probes)}.`,
    curve: "The curve is what to expect as words come; the dot is your row.",
    curveLabel: (words: number, chance: string) =>
      `Curve of the chance of a false positive against words added. With ${words} words, your row is at ${chance}.`,
    words: "words added",
    afterword: (
      <>
        That is all of it. A bit, once on, stays on, so a word that was added is never denied: <strong>no</strong> is
        certain. Only <strong>maybe</strong> can be wrong, and how often is yours to choose. The rest of this page is about
        that choice.
      </>
    ),
  },

  size: {
    title: "Choosing a size",
    text: (
      <>
        Say how many words will come and how many wrong answers you can bear. Every factor of ten in the rate costs 4.8 bits
        a word, however long the words are.
      </>
    ),
    keys: "Words that will come",
    rate: "Wrong answers to new words",
    oneIn: (n: string) => `1 in ${n}`,
    perWord: "bits a word",
    probes: "probes",
    filter: "Bloom filter",
    hashSet: "set of 64-bit hashes",
    plain: "the words themselves, 20 bytes each",
    compare: "Memory",
    curve: "Rate against bits a word. Each step down is a tenth of the wrong answers.",
    bitsAxis: "bits a word",
  },

  probes: {
    title: "How many probes",
    text: (
      <>
        One probe asks little: each bit that is on fools it. Many probes ask more, but each word also switches on more bits.
        Between the two is a best number, 0.69 times the bits a word, and there half of the bits are on.
      </>
    ),
    bits: "Bits a word",
    probes: "Probes",
    share: (percent: string) => `${percent} of the bits are on`,
    rate: "wrong answers",
    best: (probes: number, rate: string) => `Best here: ${probes} probes, ${rate}.`,
    isBest: (probes: number) => `${probes} is the best number here.`,
    useBest: "Take the best",
    gridLabel: (percent: string) => `A row of 256 bits of which ${percent} are on`,
    probesAxis: "probes",
  },

  cost: {
    title: "What an answer costs",
    text: (
      <>
        Computing is nearly free; waiting for memory is not. Memory comes in lines of 64 bytes, and scattered bits are in as
        many lines as there are probes. everseen puts all bits of a word into one line, or two, and pays with a little space.
        Move the rate and see the price.
      </>
    ),
    rate: "Error rate",
    layout: "layout",
    bits: "bits a word",
    lines: "lines fetched",
    picked: "everseen's choice",
    note: "A look-up in everseen takes 2 ns where the filter fits the processor's cache and 10 ns in half a gigabyte, because thirty lines are on their way at any moment.",
    hashSet: "hash set",
  },

  line: {
    title: "Inside a cache line",
    text: (
      <>
        This is everseen's own layout, line-8x64, with its own hash: four lines of 512 bits. The lower half of the digest
        chooses the line. The upper half gives six bits to each of eight words, and six bits choose one of 64. The processor
        tests all eight at once.
      </>
    ),
    addLabel: "Add a word to the lines",
    addButton: "Add",
    hundred: "Add 50 words",
    empty: "Empty the lines",
    digest: "digest",
    line: "line",
    word: "word",
    chosen: (line: number) => `Line ${line} is chosen`,
    gridLabel: (line: number, on: number) => `Line ${line}: eight words of 64 bits, ${on} of 512 bits on`,
    lineShort: (line: number, on: number) => `line ${line}: ${on} of 512 bits on`,
    status: (words: number, chance: string) => `${words} words in four lines. A new word is called seen with chance ${chance}.`,
    verdictSeen: "Maybe: all eight bits are on.",
    verdictFresh: (off: number) => `No, certainly: ${off} of its eight bits ${off === 1 ? "is" : "are"} off.`,
    seed: "The seed here is 00 01 02 … 0f. A real filter's is random and secret, so that strangers cannot choose words that collide.",
  },

  growth: {
    title: "When more come than you thought",
    text: (
      <>
        A row made for a thousand words errs more and more when ten thousand come. So everseen adds layers: each holds twice
        the words of the last at half its rate. ½ + ¼ + ⅛ + … never reaches 1, so all layers together never reach the rate
        that was promised.
      </>
    ),
    keys: "Words that came",
    made: "Made for 1,000 words at 1 %.",
    layer: (index: number, holds: string, bytes: string, full: string, now: string) =>
      `layer ${index}: ${holds} words in ${bytes}, at most ${full} wrong; now ${now}`,
    words: "words",
    growing: "growing",
    overfilled: "one row, overfilled",
    promise: "promised",
    status: (layers: number, grown: string, over: string) =>
      `${layers === 1 ? "1 layer" : `${layers} layers`}: ${grown} wrong. One row would be at ${over}.`,
    chartLabel: (grown: string, over: string) =>
      `Rate against words: growing stays below 1 % and is now at ${grown}; one row is at ${over}.`,
  },

  window: {
    title: "Forgetting",
    text: (
      <>
        Bits cannot be taken back: another word may need them. What can be done is to forget by age. Time is cut into slices,
        each with bits of its own, and a slice that is too old is dropped whole. A word is remembered for the window at least,
        and for one slice more at most.
      </>
    ),
    slices: "Slices in 10 minutes",
    now: "Time",
    add: "“alice” comes now",
    play: "Run",
    pause: "Stop",
    reset: "From the start",
    never: "“alice” has not come yet.",
    seen: (left: string) => `“alice” has been seen. She will be forgotten in ${left}.`,
    forgotten: (after: string) => `“alice” is forgotten. She was remembered for ${after}.`,
    price: (live: number, rate: string) =>
      `${live} slices are asked at a time, so each gets 1/${live} of the error rate: of 1 %, ${rate}.`,
    diagram: (now: string, live: number) => `Slices of time. It is ${now}; ${live} slices are live.`,
    fillingNow: "filling",
    live: "remembered",
    gone: "dropped",
  },

  onwards: {
    title: "And now yours",
    text: "Plan computes what your filter would cost, by the program's own arithmetic. Watch shows the filters of this server at work.",
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
