/** Learn, in Chinese. */

import type { LearnText } from "./learn_en";

export const learn: LearnText = {
  title: "动手学布隆过滤器",
  lead: (
    <>
      布隆过滤器只用几个比特就能记住一个词。它说<em>没有</em>，那是肯定的；它说<em>可能有</em>，偶尔会错。里面已经有三个词，查询一个试试。
    </>
  ),
  contents: "目录",

  row: {
    size: "比特数",
    probes: "每个词的探测次数",
    addLabel: "添加一个词",
    addPlaceholder: "任意一个词",
    addButton: "添加",
    random: "随机添加一个",
    empty: "删除全部词",
    askLabel: "查询一个词",
    askPlaceholder: "任意一个词",
    fool: "找一个能骗过它的词",
    fooledNot: "本页知道的词里还没有能骗过它的。再添加几个吧。",
    fooledOnly: "本页知道的词里没有别的能骗过它。",
    set: "里面的词",
    setEmpty: "还没有",
    askFor: (word) => `查询“${word}”`,
    setNote: "只有本页保留这些词，好在过滤器出错时告诉你。过滤器自己只有那些比特。",
    addIdle: "哈希函数把一个词变成几个数，各自除以比特总数，余数就是要点亮的比特。",
    addPreview: (word, fresh) =>
      fresh === 0 ? `“${word}”不会点亮新的比特：它的比特都已经亮了。` : `“${word}”会点亮 ${fresh} 个比特。`,
    added: (word, bits) => `已添加“${word}”：${bits}亮了。`,
    already: (word) => `“${word}”已经在里面。`,
    emptied: "所有比特都已熄灭。",
    bits: (positions) => `比特 ${positions.join("、")} `,
    askIdle: "输入一个词，每敲一个字都会得到回答。",
    no: "肯定没有。",
    noWhy: (word, bits) => `${bits}没有亮。如果添加过“${word}”，它的比特都应该亮着。`,
    maybe: "可能有。",
    maybeTrue: (word, bits) => `${bits}都亮着，“${word}”也确实添加过。`,
    maybeFalse: (word, bits) => `${bits}都亮着，但那是别的词点亮的：“${word}”从未添加过。这就是误判。`,
    bit: (index, by) => `比特 ${index}，${by.length > 0 ? `亮：${by.join("、")}` : "灭"}`,
    rowLabel: (on, size) => `这一排：${size} 个比特中有 ${on} 个亮着`,
    hashesLabel: (word) => `“${word}”的哈希值`,
    hashesIdle: "输入一个词，这里会显示它的哈希值。",
    noHash: "哈希值",
    sum: (steps) => (steps === 1 ? "FNV-1a + Murmur3" : `FNV-1a + ${steps} · Murmur3`),
    picks: (size, position) => `mod ${size} = ${position}`,
    chance: "现在回答错误的概率",
    chanceWhy: (on, size, probes) =>
      `${size} 个比特中亮了 ${on} 个。一个从未添加过的词，${probes} 次探测全部碰到亮着的比特，概率是 (${on}/${size})${power(probes)}。`,
    curve: "曲线是随着词增多而预期的误判率，圆点是这一排。",
    curveLabel: (words, chance) => `误判率随词数变化的曲线。已有 ${words} 个词，这一排是 ${chance}。`,
    words: "已添加的词数",
    afterword: (
      <>
        全部原理就是这些。比特一旦点亮就不会熄灭，所以添加过的词总能找到，<strong>“没有”</strong>是肯定的。只有
        <strong>“可能有”</strong>会出错，而错多少由你来定。下面各章讲的就是怎么定。
      </>
    ),
  },

  size: {
    title: "选多大",
    text: <>选择预计有多少个词，以及可以接受多少错误的回答。错误降到十分之一，每个词要多花 4.8 个比特，和词有多长无关。</>,
    keys: "预计的词数",
    rate: "对新词的误判",
    perWord: "比特/词",
    probes: "次探测",
    filter: "布隆过滤器",
    hashSet: "64 位哈希的集合",
    plain: "词本身，每个 20 字节",
    compare: "内存",
    curve: "错误率与每个词的比特数。每下降一条线，错误就少到十分之一。",
    bitsAxis: "每个词的比特数",
  },

  probes: {
    title: "探测几次",
    text: (
      <>
        只探测一次，任何一个亮着的比特都能骗过过滤器。探测多次，每个词就点亮很多比特，不久大部分都亮了。最佳值在两者之间，是每词比特数的
        0.69 倍，这时正好一半的比特亮着。
      </>
    ),
    bits: "每个词的比特数",
    probes: "探测次数",
    share: (percent) => `${percent} 的比特亮着`,
    rate: "的回答是错的",
    best: (probes, rate) => `这里最好是 ${probes} 次，错误率 ${rate}。`,
    isBest: (probes) => `${probes} 次正是这里的最佳值。`,
    useBest: "取最佳值",
    gridLabel: (percent) => `256 个比特，其中 ${percent} 亮着`,
    probesAxis: "探测次数",
  },

  cost: {
    title: "一次回答的代价",
    text: (
      <>
        计算几乎不花时间，等内存才花时间。处理器以 64 字节的缓存行为单位读取内存，比特散在各处，探测几次就要读几行。everseen
        把一个词的所有比特放进一行或两行，这会多占一点空间。移动错误率，看看价格。
      </>
    ),
    rate: "错误率",
    layout: "布局",
    bits: "比特/词",
    lines: "读取的缓存行",
    picked: "everseen 的选择",
    note: "过滤器装得进处理器缓存时，一次查询约 2 纳秒；半个 GB 的过滤器约 10 纳秒，因为 everseen 一次请求三十行。",
    hashSet: "哈希集合",
  },

  line: {
    title: "缓存行的内部",
    text: (
      <>
        这是 everseen 的布局 line-8x64，用的是它真正的哈希 SipHash：四行，每行八个 64 位的机器字。哈希值（摘要）的一半选出一行，另一半在每个机器字里选出一个比特。处理器一步就能检查全部八个。
      </>
    ),
    addLabel: "往这几行里添加一个词",
    addButton: "添加",
    fifty: "添加 50 个词",
    empty: "清空这几行",
    digest: "摘要",
    chosen: (line) => `选中第 ${line} 行`,
    gridLabel: (line, on) => `第 ${line} 行：八个字，每个 64 比特，512 个比特中亮了 ${on} 个`,
    lineShort: (line, on) => `第 ${line} 行：512 个比特中亮了 ${on} 个`,
    status: (words, chance) => `四行里有 ${words} 个词。一个新词被误判为见过的概率是 ${chance}。`,
    verdictSeen: "可能有：八个比特都亮着。",
    verdictFresh: (off) => `肯定没有：八个比特里有 ${off} 个没有亮。`,
    seed: "这里哈希的种子是 00 01 02 … 0f。真正的过滤器用随机而保密的种子，外人就无法挑出互相冲突的词。",
  },

  growth: {
    title: "词比预计的多",
    text: (
      <>
        为一千个词准备的一排比特，装进一万个词就会错得越来越多。所以 everseen 会加层：每层能装的词是上一层的两倍，错误率是一半。½ + ¼ + ⅛ + …
        永远到不了 1，所以所有层加起来也低于承诺的错误率。
      </>
    ),
    keys: "已添加的词",
    made: "按 1,000 个词、1 % 的错误率创建。",
    layer: (index, holds, bytes, full, now) => `第 ${index} 层：最多 ${holds} 个词，${bytes}，错误率最多 ${full}，现在 ${now}`,
    words: "词数",
    growing: "分层",
    overfilled: "一排，装得过满",
    promise: "承诺的上限",
    status: (layers, grown, over) => `共 ${layers} 层：${grown} 的新词得到错误的回答。只用一排：${over}。`,
    chartLabel: (grown, over) => `错误率随词数变化：分层时始终低于 1 %，现在是 ${grown}；只用一排是 ${over}。`,
  },

  window: {
    title: "遗忘",
    text: (
      <>
        单个词无法删除，因为别的词可能共用它的比特。但过滤器可以按时间遗忘。时间被切成片，每片有自己的比特，最旧的一片整个丢掉。一个词至少被记住一个窗口那么久，最多再多一片。
      </>
    ),
    slices: "10 分钟的窗口分成几片",
    now: "时间",
    add: "现在添加“alice”",
    play: "运行",
    pause: "暂停",
    reset: "重新开始",
    never: "还没有添加“alice”。",
    seen: (left) => `“alice”还会被记住 ${left}。`,
    forgotten: (after) => `“alice”已被遗忘。过滤器记住了它 ${after}。`,
    price: (live, rate) => `每次查询要问 ${live} 片，所以每片只能分到错误率的 1/${live}：总共 1 %，每片 ${rate}。`,
    diagram: (now, live) => `时间片。现在是 ${now}，记得 ${live} 片。`,
    fillingNow: "正在写入",
    live: "记得",
    gone: "已丢弃",
  },

  formulas: {
    title: "公式",
    text: (
      <>
        上面各章的内容，写成适用于任何过滤器的公式：<i>m</i> 个比特，装 <i>n</i> 个键，每个键探测 <i>k</i> 次。错误率 <i>p</i>{" "}
        是新键被误判为见过的概率。右边的数字按你在这里选的数算出。
      </>
    ),
    bits: "每个键的比特数 m/n",
    probes: "探测次数 k",
    share: "亮着的比特的比例",
    rate: "错误率",
    best: "最佳探测次数",
    bestRate: "探测次数最佳时的错误率",
    size: "以最佳探测次数达到这个错误率，每个键要多少比特",
    hashes: "由两个哈希值得到任意多次探测",
    line: (keys) => (
      <>
        一个键的所有比特都在一条缓存行里时的错误率：一行有 <i>s</i> 个字，每个字 <i>w</i> 比特，平均装 {keys} 个键。数字按 line-8x64
        计算。
      </>
    ),
    twoLines: "用两条缓存行时的错误率。数字按 two-line-8x64 计算。",
    layers: "会增长的过滤器所有层合起来的错误率",
    references: "参考文献",
    reference: (number) => `参考文献 ${number}`,
    papers: {
      bloom: "过滤器本身和它的错误率。",
      hashes: "为什么两个哈希值就够了。",
      blocked: "一个键的比特都在一条缓存行里的过滤器，称为 blocked（分块）。",
    },
  },

  onwards: {
    title: "轮到你了",
    text: "“规划”算出你的键需要怎样的过滤器、要花多少。“观察”显示这台服务器上正在工作的过滤器。",
    plan: "规划一个过滤器",
    watch: "观察这台服务器",
  },
};

function power(n: number): string {
  return n === 1 ? "" : [..."⁰¹²³⁴⁵⁶⁷⁸⁹"][n];
}
