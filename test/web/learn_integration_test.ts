import assert from "node:assert/strict";
import { after, before, test } from "node:test";

import type { Browser, Page } from "playwright-core";

import { add, bitsOf, chanceNow, probesOf, witnesses } from "page/bloom/row";
import type { Row } from "page/bloom/row";
import { siphash128 } from "page/bloom/siphash";
import { chance, hex32, hex64 } from "page/ui/format";

import { launch, Visitor } from "./browser";
import { Serving } from "./serving";

let server: Serving;
let browser: Browser;

before(async () => {
  server = await Serving.start();
  browser = await launch();
});
after(async () => {
  await browser?.close();
  await server?.stop();
});

/** A test with the page Learn open in its own browser window. */
function learning(name: string, body: (page: Page, visitor: Visitor) => Promise<void>, language: "en" | "zh" = "en"): void {
  test(name, async () => {
    const visitor = await Visitor.come(browser, server.address, { language });
    await body(await visitor.open("learn"), visitor);
    await visitor.leave();
  });
}

const rowOf = (...words: string[]): Row => words.reduce(add, { size: 15, probes: 2, words: [] } as Row);

async function addWord(page: Page, word: string): Promise<void> {
  await page.fill("#add-word", word);
  await page.press("#add-word", "Enter");
}

async function litBits(page: Page): Promise<boolean[]> {
  const states = await page.locator(".bit").evaluateAll((bits) => bits.map((bit) => bit.getAttribute("data-on")));
  return states.map((state) => state === "true");
}

learning("begins with fifteen bits, all off", async (page) => {
  assert.deepEqual(await litBits(page), new Array(15).fill(false));
});

learning("a word that is added switches on the bits of its two hashes, and is listed", async (page) => {
  await addWord(page, "bloom");
  assert.deepEqual(await litBits(page), bitsOf(rowOf("bloom")));
  assert.deepEqual(await page.locator(".words li").allTextContents(), ["bloom"]);
  const cards = await page.locator(".hash").allInnerTexts();
  probesOf("bloom", rowOf()).forEach(({ hash, position }, i) => {
    assert.match(cards[i], new RegExp(["FNV-1a", "Murmur3"][i]));
    assert.match(cards[i], new RegExp(hex32(hash)));
    assert.match(cards[i], new RegExp(`mod 15 = ${position}`));
  });
});

learning("a wire leads from each hash to its bit", async (page) => {
  await page.fill("#add-word", "ever");
  const ends = await page.locator(".wire").evaluateAll((wires) =>
    wires.map((wire) => {
      const path = wire as SVGPathElement;
      const end = path.getPointAtLength(path.getTotalLength());
      const svg = path.ownerSVGElement!.getBoundingClientRect();
      return { x: end.x + svg.left, y: end.y + svg.top };
    }),
  );
  const probes = probesOf("ever", rowOf());
  assert.equal(ends.length, probes.length);
  for (const [i, { position }] of probes.entries()) {
    const lamp = (await page.locator(`[data-bit="${position}"] i`).boundingBox())!;
    assert.ok(Math.abs(ends[i].x - (lamp.x + lamp.width / 2)) < 2, `wire ${i} ends beside its lamp`);
  }
});

learning("the row answers at every letter, and names the bits that said so", async (page) => {
  await addWord(page, "bloom");
  await addWord(page, "lamp");
  const row = rowOf("bloom", "lamp");
  let typed = "";
  await page.focus("#ask-word");
  for (const letter of "bloom") {
    typed += letter;
    await page.keyboard.type(letter);
    const off = witnesses(typed, row);
    const answer = page.locator(".play .answer");
    assert.equal(await answer.getAttribute("data-verdict"), off.length > 0 ? "no" : "maybe", typed);
    const text = await answer.innerText();
    for (const bit of off) assert.match(text, new RegExp(`\\b${bit}\\b`), typed);
  }
  assert.match(await page.locator(".play .answer").innerText(), /Maybe\. .* was indeed added/);
});

learning("a word that fools the row is found, and called a false positive", async (page) => {
  const words = ["bloom", "lamp", "ever", "seen", "filter", "bits"];
  for (const word of words) await addWord(page, word);
  await page.getByRole("button", { name: "Find a word that fools it" }).click();
  const fooling = await page.inputValue("#ask-word");
  assert.ok(fooling && !words.includes(fooling));
  assert.deepEqual(witnesses(fooling, rowOf(...words)), []);
  assert.match(await page.locator(".play .answer").innerText(), /never added\. This is a false positive/);
});

learning("the chance of being wrong is that of the bits that are on", async (page) => {
  for (const word of ["bloom", "lamp", "ever"]) await addWord(page, word);
  const expected = chanceNow(rowOf("bloom", "lamp", "ever"));
  assert.equal(await page.locator(".chance .big").innerText(), chance(expected));
  const curve = page.getByRole("img", { name: /Curve of the chance.*With 3 words/ });
  assert.ok((await curve.locator("canvas").count()) > 0);
});

learning("size and number of probes can be changed by keyboard, and the words stay", async (page) => {
  await addWord(page, "bloom");
  await page.getByLabel("Bits in the row").focus();
  for (let i = 0; i < 5; ++i) await page.keyboard.press("ArrowRight");
  await page.getByLabel("Probes a word").focus();
  for (let i = 0; i < 2; ++i) await page.keyboard.press("ArrowRight");
  assert.deepEqual(await litBits(page), bitsOf({ size: 20, probes: 4, words: ["bloom"] }));
  assert.equal(await page.locator(".hash").count(), 4);
});

learning("the row can be emptied", async (page) => {
  await addWord(page, "bloom");
  await page.getByRole("button", { name: "Empty the row" }).click();
  assert.deepEqual(await litBits(page), new Array(15).fill(false));
  assert.equal(await page.locator(".words li").count(), 0);
});

learning("choosing a size: ten times fewer errors cost 4.8 bits a word", async (page) => {
  const panel = page.locator(".panel.size");
  const bits = async (): Promise<number> => Number(await panel.locator("[data-fact=bits]").innerText());
  const rate = panel.getByLabel("Wrong answers to new words");
  const first = await bits();
  await rate.focus();
  for (let i = 0; i < 10; ++i) await page.keyboard.press("ArrowRight");
  assert.ok(Math.abs((await bits()) - first - 4.8) < 0.2);
});

learning("how many probes: the best is a press away", async (page) => {
  const panel = page.locator(".panel.probes");
  assert.equal(await panel.locator("[data-fact=rate]").innerText(), chance((1 - Math.exp(-2 / 10)) ** 2));
  await panel.getByRole("button", { name: "Take the best" }).click();
  assert.equal(await panel.getByLabel("Probes", { exact: true }).inputValue(), "7");
  const lit = await panel.locator(".field i.on").count();
  assert.ok(lit > 120 && lit < 136, `${lit} of 256 lamps`);
});

learning("what an answer costs: the choice follows the rate", async (page) => {
  const panel = page.locator(".panel.cost");
  const picked = (): Promise<string | null> => panel.locator("tr.picked").getAttribute("data-layout");
  assert.equal(await picked(), "line-8x64");
  await panel.getByLabel("Error rate").fill("9");
  assert.equal(await picked(), "two-line-16x32");
});

learning("inside a cache line: the program's own digest, and its verdicts", async (page) => {
  const panel = page.locator(".panel.line");
  assert.equal(await panel.locator("[data-digest]").innerText(), hex64(siphash128("everseen").high));
  assert.match(await panel.locator(".answer").innerText(), /8 of its eight bits are off/);
  await panel.getByRole("button", { name: "Add", exact: true }).click();
  assert.match(await panel.locator(".answer").innerText(), /Maybe/);
  assert.equal(await panel.locator(".line-word i.on.probed").count(), 8);
});

learning("growth: layers come, and the rate stays below the promise", async (page) => {
  const panel = page.locator(".panel.growth");
  await panel.getByLabel("Words that came").fill("4");
  assert.equal(await panel.locator(".layers li").count(), 4);
  assert.match(await panel.locator(".answer").innerText(), /4 layers: 0\.\d+ % wrong\. One row would be at 99\.5 %/);
});

learning("forgetting: a word is remembered for the window, and then no more", async (page) => {
  const panel = page.locator(".panel.window");
  await panel.getByRole("button", { name: "“alice” comes now" }).click(); // at 2:30, in the slice until 4:00
  assert.match(await panel.locator(".answer").innerText(), /has been seen.*forgotten in 11:30/);
  const time = panel.getByRole("slider", { name: "Time" });
  await time.fill("834");
  assert.match(await panel.locator(".answer").innerText(), /has been seen.*forgotten in 0:06/);
  await time.fill("840");
  assert.match(await panel.locator(".answer").innerText(), /is forgotten.*remembered for 11:30/);
});

learning("forgetting: time runs by itself when asked to", async (page) => {
  const panel = page.locator(".panel.window");
  await panel.getByRole("button", { name: "Run" }).click();
  await page.waitForFunction(() => Number(document.querySelector<HTMLInputElement>(".panel.window input")!.value) > 170);
  await panel.getByRole("button", { name: "Stop" }).click();
});

learning(
  "says all of it in Chinese",
  async (page) => {
    assert.equal(await page.locator("html").getAttribute("lang"), "zh-Hans");
    assert.equal(await page.locator("h1").innerText(), "动手学布隆过滤器");
    await addWord(page, "春天");
    assert.deepEqual(await litBits(page), bitsOf(rowOf("春天")));
    await page.fill("#ask-word", "春天");
    assert.match(await page.locator(".play .answer").innerText(), /可能有。.*也确实添加过/);
    await page.fill("#ask-word", "夏天");
    assert.match(await page.locator(".play .answer").innerText(), /肯定没有。|误判/);
    const english = await page.locator("main").innerText();
    assert.doesNotMatch(english, /\b(the|words|Add)\b/);
  },
  "zh",
);

learning("remembers the language and the theme", async (page, visitor) => {
  await page.getByRole("button", { name: "中文" }).click();
  await page.getByRole("button", { name: /主题/ }).click();
  await page.getByRole("button", { name: /主题/ }).click();
  await page.reload();
  await visitor.open("learn");
  assert.equal(await page.locator("html").getAttribute("lang"), "zh-Hans");
  assert.equal(await page.locator("html").getAttribute("data-theme"), "dark");
});
