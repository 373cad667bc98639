/** Plan, in both languages. */

export const plan = {
  title: "Plan a filter",
  lead: "Give any three of the four quantities. The program's own planner computes the fourth, to the byte.",
  find: "What do you want to know?",
  finds: { keys: "Keys", bits: "Memory", error_rate: "Error rate", probes: "Probes" },
  letters: { keys: "n", bits: "m", error_rate: "p", probes: "k" },
  quantities: {
    keys: "Number of different keys n",
    bits: "Memory m in bits, or in bytes with a B",
    error_rate: "Error rate p: new keys called seen",
    probes: "Probes k: bits a key",
    values: "Possible values, for the bitmap",
  },
  layout: "Layout",
  picked: "the planner's choice",
  onlyClassic: "Only the classic layout lets you choose the number of probes.",
  bestProbes: "best",
  valuesRaised: (keys: string) => `There are at least as many possible values as keys: the bitmap is for ${keys}.`,
  addressRefused: (what: string) => `Not taken from the address: ${what}`,
  compare: "All structures compared",
  memory: "memory",
  structure: "structure",
  bitsAKey: "bits a key",
  probesShort: "probes",
  lines: "cache lines",
  errorRate: "error rate",
  choice: "chosen",
  summary: (bitsAKey: string, bits: string) => `: ${bitsAKey} bits a key, ${bits} bits in all.`,
  names: { "hash set": "hash set", bitmap: "bitmap" } as Record<string, string>,
  why: (picked: string, lines: number, classicLines: number, more: string) =>
    `A look-up in ${picked} reads ${lines === 1 ? "1 cache line" : `${lines} cache lines`}, in classic ${classicLines}; it takes ${more} memory a key.`,
  more: (percent: number) => (percent >= 0 ? `${percent} % more` : `${-percent} % less`),
  whyClassic: "Its bits lie anywhere in memory, so it needs the fewest of them.",
  whyProbes: "This is the smallest number of probes that keeps the error rate.",
  growing: (bytes: string) =>
    `A filter that may grow begins at ${bytes}: it reserves half of its error rate for the layers that are added later.`,
  curve: "Error rate while the filter fills, up to twice its keys",
  curveLabel: (picked: string, keys: string, rate: string) =>
    `Error rate against keys for every layout. With ${keys} keys ${picked} is at ${rate}.`,
  keysAxis: "keys",
  command: "Create it",
  away: "The server does not answer. Its planner computes these figures; this page keeps trying.",
  impossible: "There is no such filter:",
  /** What the planner says, in the language of the page; as it is where that is not known. */
  refusal: (detail: string) => detail,
  working: "Computing …",
};

/** The planner's refusals (everseen/report/planning.cpp, everseen/core/layout/sizing.cpp). */
const refusals_zh: readonly [RegExp, (found: RegExpExecArray) => string][] = [
  [
    /^no number of probes reaches an error rate of (\S+): the best, (\d+), reaches ([^;]+);/,
    ([, rate, best, reached]) => `没有哪个探测次数能达到错误率 ${rate}：最好的 ${best} 次达到 ${reached}。请减少键、增加内存或提高错误率。`,
  ],
  [/^(\d+) bytes hold no key at this rate/, ([, size]) => `按这个错误率，${size} 字节装不下一个键。请增加内存。`],
  [
    /^a segment for (\d+) keys in layout (\S+) would exceed 2\^62 bits/,
    ([, keys, layout]) => `${layout} 布局的一段装 ${keys} 个键会超过 2⁶² 比特。请减少键、提高错误率或换一种布局。`,
  ],
];

export const plan_zh: typeof plan = {
  title: "规划一个过滤器",
  lead: "给出四个量中的任意三个，程序自己的规划器就会算出第四个，精确到字节。",
  find: "你想知道什么？",
  finds: { keys: "键数", bits: "内存", error_rate: "错误率", probes: "探测次数" },
  letters: { keys: "n", bits: "m", error_rate: "p", probes: "k" },
  quantities: {
    keys: "不同的键的数量 n",
    bits: "内存 m，按比特，带 B 为字节",
    error_rate: "错误率 p：被误判为见过的新键",
    probes: "探测次数 k：每个键的比特",
    values: "可能的值的数量，用于位图",
  },
  layout: "布局",
  picked: "由规划器选择",
  onlyClassic: "只有 classic 布局可以选择探测次数。",
  bestProbes: "最佳",
  valuesRaised: (keys) => `可能的值至少和键一样多：位图按 ${keys} 计算。`,
  addressRefused: (what) => `地址里的这些没有采用：${what}`,
  compare: "各种结构的比较",
  memory: "内存",
  structure: "结构",
  bitsAKey: "比特/键",
  probesShort: "探测",
  lines: "缓存行",
  errorRate: "错误率",
  choice: "选定",
  summary: (bitsAKey, bits) => `：每个键 ${bitsAKey} 比特，共 ${bits} 比特。`,
  names: { "hash set": "哈希集合", bitmap: "位图" },
  why: (picked, lines, classicLines, more) =>
    `${picked} 查一次读 ${lines} 条缓存行，classic 读 ${classicLines} 条；每个键的内存${more}。`,
  more: (percent) => (percent >= 0 ? `多 ${percent} %` : `少 ${-percent} %`),
  whyClassic: "它的比特散在内存各处，所以需要的比特最少。",
  whyProbes: "这是能保证错误率的最少探测次数。",
  growing: (bytes) => `允许增长的过滤器从 ${bytes} 开始：它为以后增加的层预留一半的错误率。`,
  curve: "过滤器逐渐装满时的错误率，直到键数的两倍",
  curveLabel: (picked, keys, rate) => `各种布局的错误率随键数的变化。${keys} 个键时，${picked} 是 ${rate}。`,
  keysAxis: "键数",
  command: "创建它",
  away: "服务器没有回答。这些数字由它的规划器计算；本页会继续尝试。",
  impossible: "没有这样的过滤器：",
  refusal: (detail) => {
    for (const [form, words] of refusals_zh) {
      const found = form.exec(detail);
      if (found) return words(found);
    }
    return detail;
  },
  working: "正在计算……",
};
