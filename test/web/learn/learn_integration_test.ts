import assert from "node:assert/strict";
import { after, before, test } from "node:test";

import type { Page } from "playwright-core";

import { add, bitsOf, chanceNow, probesOf, witnesses } from "page/bloom/row";
import type { Row } from "page/bloom/row";
import { firstWords, sampleWords } from "page/text/words";
import { chance, hex32 } from "page/ui/format";

import { field, slider, Visitor } from "../support/browser";
import type { Look } from "../support/browser";
import { Serving } from "../support/serving";

let server: Serving;

before(async () => {
  server = await Serving.start();
});
after(async () => {
  await server?.stop();
});

/** A test with the page Learn open. */
function learning(name: string, body: (page: Page, visitor: Visitor) => Promise<void>, look: Look = {}): void {
  test(name, async () => {
    const visitor = await Visitor.come(server.address, look);
    await body(await visitor.open("learn"), visitor);
    await visitor.leave();
  });
}

/** The initial row, and more words. */
const rowOf = (...words: string[]): Row => words.reduce(add, { size: 15, probes: 2, words: firstWords.en } as Row);

const listed = (page: Page): Promise<string[]> => page.locator(".words li").allInnerTexts();

async function addWord(page: Page, word: string): Promise<void> {
  await page.fill("#add-word", word);
  await page.press("#add-word", "Enter");
}

async function litBits(page: Page): Promise<boolean[]> {
  const states = await page.locator(".bit").evaluateAll((bits) => bits.map((bit) => bit.getAttribute("data-on")));
  return states.map((state) => state === "true");
}

learning("begins with words in the row, which can be asked for", async (page) => {
  assert.deepEqual(await litBits(page), bitsOf(rowOf()));
  assert.ok(bitsOf(rowOf()).some((on) => on) && bitsOf(rowOf()).some((on) => !on));
  assert.deepEqual(await listed(page), firstWords.en);
  await page.fill("#ask-word", firstWords.en[0]);
  assert.match(await page.locator(".play .answer").innerText(), /Maybe\. .* was really added/);
});

learning("a word that is added switches on the bits of its two hashes, and is listed", async (page) => {
  await addWord(page, "bloom");
  assert.deepEqual(await litBits(page), bitsOf(rowOf("bloom")));
  assert.deepEqual(await listed(page), [...firstWords.en, "bloom"]);
  const cards = await page.locator(".hash").allInnerTexts();
  probesOf("bloom", rowOf()).forEach(({ hash, position }, i) => {
    assert.match(cards[i], new RegExp(["FNV-1a", "Murmur3"][i]));
    assert.match(cards[i], new RegExp(hex32(hash)));
    assert.match(cards[i], new RegExp(`mod 15 = ${position}`));
  });
});

learning(
  "a wire leads from each hash to its bit",
  async (page) => {
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
  },
  { moving: true },
);

learning("the row answers at every letter, and names the bits behind its answer", async (page) => {
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
  assert.match(await page.locator(".play .answer").innerText(), /Maybe\. .* was really added/);
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

learning("each search for a word that fools the row finds another one, until all were found", async (page) => {
  const known = [...sampleWords.en, ...sampleWords.zh];
  const fooling = known.filter((word) => !firstWords.en.includes(word) && witnesses(word, rowOf()).length === 0);
  assert.ok(fooling.length > 5);
  const found: string[] = [];
  for (let i = 0; i < fooling.length; ++i) {
    await page.getByRole("button", { name: "Find a word that fools it" }).click();
    found.push(await page.inputValue("#ask-word"));
  }
  assert.deepEqual([...found].sort(), [...fooling].sort());
  await page.fill("#ask-word", "b");
  await page.getByRole("button", { name: "Find a word that fools it" }).click();
  assert.equal(await page.inputValue("#ask-word"), found[0]);
});

learning("reports on request that no other word fools the row", async (page) => {
  await field(page, "Probes per word").fill("6");
  // The most bits at which one word alone fools the row.
  const shape = [...Array(64).keys()].reverse().map((size) => ({ ...rowOf(), size, probes: 6 }));
  const known = [...sampleWords.en, ...sampleWords.zh];
  const fooling = (row: Row): string[] => known.filter((word) => !row.words.includes(word) && witnesses(word, row).length === 0);
  const row = shape.find((each) => each.size >= 4 && fooling(each).length === 1)!;
  await field(page, "Bits in the row").fill(String(row.size));
  await page.getByRole("button", { name: "Find a word that fools it" }).click();
  assert.equal(await page.inputValue("#ask-word"), fooling(row)[0]);
  assert.equal(await page.getByText("No other word").count(), 0);
  await page.getByRole("button", { name: "Find a word that fools it" }).click();
  await page.locator(".play .answer").filter({ hasText: /false positive.*No other word that this page knows fools the row\./s }).waitFor();
});

learning("reports on request that no word fools the row", async (page) => {
  await page.getByRole("button", { name: "Remove all words" }).click();
  await field(page, "Bits in the row").fill("61");
  await field(page, "Probes per word").fill("6");
  await addWord(page, "bloom");
  await page.getByRole("button", { name: "Find a word that fools it" }).click();
  await page.locator(".play .answer").filter({ hasText: "No word that this page knows fools the row yet." }).waitFor();
  await page.fill("#ask-word", "b");
  await page.locator(".play .answer").filter({ hasText: /Certainly not|Maybe/ }).waitFor();
});

learning("the chance of a wrong answer follows from the bits that are on", async (page) => {
  for (const word of ["bloom", "lamp", "ever"]) await addWord(page, word);
  const expected = chanceNow(rowOf("bloom", "lamp", "ever"));
  assert.equal(await page.locator(".chance .big").innerText(), chance(expected));
  const curve = page.getByRole("img", { name: /Curve of the chance.*With 6 words/ });
  assert.ok((await curve.locator("canvas").count()) > 0);
});

learning("size and number of probes can be changed by keyboard, and the words stay", async (page) => {
  await addWord(page, "bloom");
  await slider(page, "Bits in the row").focus();
  for (let i = 0; i < 5; ++i) await page.keyboard.press("ArrowRight");
  await slider(page, "Probes per word").focus();
  for (let i = 0; i < 2; ++i) await page.keyboard.press("ArrowRight");
  assert.deepEqual(await litBits(page), bitsOf({ ...rowOf("bloom"), size: 20, probes: 4 }));
  assert.equal(await page.locator(".hash").count(), 4);
});

learning("typing anywhere asks for a word", async (page) => {
  await page.keyboard.type("bloom");
  assert.equal(await page.inputValue("#ask-word"), "bloom");
  assert.match(await page.locator(".play .answer").innerText(), /Certainly not|Maybe/);
});

learning("text that is typed elsewhere stays there, and the browser keeps its shortcuts", async (page) => {
  await page.focus("#add-word");
  await page.keyboard.type("lamp");
  await page.locator("h1").evaluate((heading: HTMLElement) => heading.focus());
  await page.keyboard.press("Control+b");
  assert.equal(await page.inputValue("#add-word"), "lamp");
  assert.equal(await page.inputValue("#ask-word"), "");
});

for (const look of [{ width: 360, height: 740 }, { width: 360, height: 740, language: "zh" as const }, { width: 1200, height: 800 }])
  learning(
    `what it is, the row and where to type are seen at once (${look.width}, ${look.language ?? "en"})`,
    async (page) => {
      const below = await page.evaluate(
        (height) =>
          ["h1", ".lead", ".bits", "#ask-word"].filter(
            (part) => document.querySelector(part)!.getBoundingClientRect().bottom > height,
          ),
        look.height,
      );
      assert.deepEqual(below, []);
    },
    look,
  );

/** The widest empty strip between the fields and the lamps, in pixels. Runs in the page. */
function emptyStrip(): number {
  const parts = document.querySelectorAll(".play .ask-and-add :is(button, p), .play .hashes :is(b, code, span), .play .bits i");
  const boxes = [...parts].map((part) => part.getBoundingClientRect()).sort((a, b) => a.top - b.top);
  let filled = boxes[0].bottom;
  return boxes.reduce((widest, { top, bottom }) => {
    const strip = top - filled;
    filled = Math.max(filled, bottom);
    return Math.max(widest, strip);
  }, 0);
}

for (const width of [360, 1200])
  learning(
    `before the first word is typed, cards stand where its hash values will be (${width})`,
    async (page) => {
      for (const isEmpty of [false, true]) {
        if (isEmpty) await page.getByRole("button", { name: "Remove all words" }).click();
        assert.deepEqual(
          (await page.locator(".hash").allInnerTexts()).map((card) => card.split(/\s*\n\s*/)),
          ["FNV-1a", "Murmur3"].map((name) => [name, "hash value", "mod 15 = ?"]),
        );
        await page.getByRole("list", { name: "The hash values of the word that you type appear here." }).waitFor();
        if (width > 720) assert.ok((await page.evaluate(emptyStrip)) < 70, `${await page.evaluate(emptyStrip)} pixels are empty`);
      }
    },
    { width },
  );

for (const width of [360, 1200])
  learning(
    `nothing jumps while one types (${width})`,
    async (page) => {
      const places = (): Promise<number[]> =>
        page.evaluate(() =>
          ["#add-word", ".word-form .small-buttons", ".bits", "#ask-word", ".row-quantities"].map((part) =>
            Math.round(document.querySelector(part)!.getBoundingClientRect().top + scrollY),
          ),
        );
      const before = await places();
      await page.fill("#add-word", "bloom");
      assert.deepEqual(await places(), before);
      await page.fill("#ask-word", "lamp");
      assert.deepEqual(await places(), before);
    },
    { width },
  );

for (const [height, what] of [[844, "with the hash values"], [400, "above a keyboard"]] as const)
  learning(
    `on a phone the row stays in view while one types (${what})`,
    async (page) => {
      for (const field of ["#ask-word", "#add-word"]) {
        await page.focus(field);
        await page.keyboard.type("pear");
        await page.locator(field).scrollIntoViewIfNeeded();
        const row = (await page.locator(".bits").boundingBox())!;
        const typed = (await page.locator(field).boundingBox())!;
        assert.ok(row.y >= 0 && row.y + row.height <= height, `${field}: the row is at ${row.y}`);
        assert.ok(typed.y >= row.y + row.height && typed.y + typed.height <= height, `${field}: the field is at ${typed.y}`);
        assert.equal(await page.locator(".hashes").isVisible(), height > 480);
      }
    },
    { width: 390, height },
  );

learning(
  "on a phone the row is at the top of the view, also if that is a part of the window",
  async (page) => {
    const devtools = await page.context().newCDPSession(page);
    await devtools.send("Emulation.setPageScaleFactor", { pageScaleFactor: 2 });
    await page.mouse.move(100, 300);
    // A turn of the wheel is answered before it is drawn, and too many would pass the row.
    const drawn = (): Promise<number> =>
      page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => done(scrollY)))));
    while ((await drawn()) === 0) await page.mouse.wheel(0, 100);
    await page.waitForFunction(() => {
      const { top } = document.querySelector(".stage")!.getBoundingClientRect();
      return visualViewport!.offsetTop > 300 && Math.abs(top - visualViewport!.offsetTop) < 2;
    });
    await devtools.send("Emulation.setPageScaleFactor", { pageScaleFactor: 1 });
    await devtools.detach();
  },
  { width: 390, height: 844 },
);

learning("any word can be added, and a word of the set is asked for by a press", async (page) => {
  await page.getByRole("button", { name: "Add a random word" }).click();
  await page.locator(".words li").nth(firstWords.en.length).waitFor();
  const word = (await listed(page)).pop()!;
  assert.deepEqual(await litBits(page), bitsOf(rowOf(word)));
  await page.getByRole("button", { name: word, exact: true }).click();
  assert.equal(await page.inputValue("#ask-word"), word);
  await page.getByText("was really added").waitFor();
});

learning("each bit tells which words switched it on", async (page) => {
  for (const word of ["bloom", "lamp"]) await addWord(page, word);
  const { position } = probesOf("bloom", rowOf())[0];
  assert.match((await page.locator(`[data-bit="${position}"]`).getAttribute("title"))!, /^bit \d+, on by .*bloom/);
  assert.match((await page.locator(".bit:not(.on)").first().getAttribute("title"))!, /, off$/);
});

learning("size and number of probes can be typed, and invalid values are reported and change nothing", async (page) => {
  await addWord(page, "bloom");
  await field(page, "Bits in the row").fill("31");
  await field(page, "Probes per word").fill("3");
  assert.deepEqual(await litBits(page), bitsOf({ ...rowOf("bloom"), size: 31, probes: 3 }));
  await field(page, "Probes per word").fill("7");
  assert.equal(await field(page, "Probes per word").getAttribute("aria-invalid"), "true");
  await page.getByText("From 1 to 6.").waitFor();
  assert.equal(await slider(page, "Probes per word").inputValue(), "3");
  await page.keyboard.press("Escape");
  assert.equal(await field(page, "Probes per word").inputValue(), "3");
  await page.keyboard.press("ArrowUp");
  assert.equal(await slider(page, "Probes per word").inputValue(), "4");
});

learning("the row can be emptied", async (page) => {
  await addWord(page, "bloom");
  await page.getByRole("button", { name: "Remove all words" }).click();
  assert.deepEqual(await litBits(page), new Array(15).fill(false));
  assert.equal(await page.locator(".words li").count(), 0);
});

learning(
  "says all of it in Chinese",
  async (page) => {
    assert.equal(await page.locator("html").getAttribute("lang"), "zh-Hans");
    assert.equal(await page.locator("h1").innerText(), "动手学布隆过滤器");
    await addWord(page, "春天");
    assert.deepEqual(await litBits(page), bitsOf({ ...rowOf(), words: [...firstWords.zh, "春天"] }));
    await page.fill("#ask-word", "春天");
    assert.match(await page.locator(".play .answer").innerText(), /可能有。.*也确实添加过/);
    await page.fill("#ask-word", "夏天");
    assert.match(await page.locator(".play .answer").innerText(), /肯定没有。|误判/);
    // The titles of papers are as they were published.
    await page.locator(".references").evaluate((papers) => papers.remove());
    assert.doesNotMatch(await page.locator("main").innerText(), /\b(the|words|Add)\b/);
  },
  { language: "zh" },
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
