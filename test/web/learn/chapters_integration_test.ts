/** The chapters after the row: every control. */

import assert from "node:assert/strict";
import { after, before, test } from "node:test";

import type { Page } from "playwright-core";

import { classicRate, rateOf } from "page/bloom/rates";
import { siphash128 } from "page/bloom/siphash";
import { chance, hex64 } from "page/ui/format";

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
function learning(name: string, body: (page: Page) => Promise<void>, look: Look = {}): void {
  test(name, async () => {
    const visitor = await Visitor.come(server.address, look);
    await body(await visitor.open("learn"));
    await visitor.leave();
  });
}

learning("choosing a size: ten times fewer errors cost 4.8 bits a word", async (page) => {
  const panel = page.locator(".panel.size");
  const bits = async (): Promise<number> => Number(await panel.locator("[data-fact=bits]").innerText());
  const rate = slider(panel, "Wrong answers to new words");
  const first = await bits();
  await rate.focus();
  for (let i = 0; i < 10; ++i) await page.keyboard.press("ArrowRight");
  assert.ok(Math.abs((await bits()) - first - 4.8) < 0.2);
});

/** How many horizontal lines a plot has, counted beside its vertical axis, where no curve is. */
function linesOf(plot: Element): number {
  const canvas = plot.querySelector("canvas")!;
  const scale = canvas.width / canvas.clientWidth;
  const [place, inner] = [canvas, plot.querySelector(".u-over")!].map((part) => part.getBoundingClientRect());
  const column = Math.round((inner.left - place.left + 4) * scale);
  const { data } = canvas.getContext("2d")!.getImageData(column, 0, 1, Math.round((inner.bottom - place.top + 2) * scale));
  const drawn = Array.from({ length: data.length / 4 }, (_, i) => data[4 * i + 3] > 0);
  return drawn.filter((on, i) => on && !drawn[i - 1]).length;
}

for (const [language, caption] of [["en", "Each line down has a tenth"], ["zh", "每下降一条线，错误就少到十分之一"]] as const)
  learning(
    `choosing a size: the plot has a line for each tenth that its caption speaks of (${language})`,
    async (page) => {
      const panel = page.locator(".panel.size");
      assert.ok((await panel.locator(".hint").last().innerText()).includes(caption));
      assert.equal(await panel.locator(".plot").evaluate(linesOf), 13); // from 1 to 10⁻¹²
    },
    { language },
  );

learning("how many probes: one press selects the best", async (page) => {
  const panel = page.locator(".panel.probes");
  assert.equal(await panel.locator("[data-fact=rate]").innerText(), chance((1 - Math.exp(-2 / 10)) ** 2));
  await panel.getByRole("button", { name: "Use the best" }).click();
  assert.equal(await field(panel, "Probes").inputValue(), "7");
  const lit = await panel.locator(".field i.on").count();
  assert.ok(lit > 120 && lit < 136, `${lit} of 256 lamps`);
});

learning("the cost of an answer: the choice follows the rate", async (page) => {
  const panel = page.locator(".panel.cost");
  const picked = (): Promise<string | null> => panel.locator("tr.picked").getAttribute("data-layout");
  assert.equal(await picked(), "line-8x64");
  await slider(panel, "Error rate").fill("9");
  assert.equal(await picked(), "two-line-16x32");
});

learning("inside a cache line: the program's digest, and its verdicts", async (page) => {
  const panel = page.locator(".panel.line");
  assert.equal(await panel.locator("[data-digest]").innerText(), hex64(siphash128("everseen").high));
  assert.match(await panel.locator(".answer").innerText(), /8 of its eight bits are off/);
  await panel.getByRole("button", { name: "Add", exact: true }).click();
  assert.match(await panel.locator(".answer").innerText(), /Maybe/);
  assert.equal(await panel.locator(".line-word i.on.probed").count(), 8);
});

learning("inside a cache line: fifty words at a time fill the lines, which can be emptied", async (page) => {
  const panel = page.locator(".panel.line");
  for (let i = 0; i < 4; ++i) await panel.getByRole("button", { name: "Add 50 words" }).click();
  await panel.getByText("200 words in four lines").waitFor();
  assert.ok((await panel.locator(".line-word i.on").count()) > 200);
  await panel.getByRole("button", { name: "Empty the lines" }).click();
  await panel.getByText("0 words in four lines").waitFor();
  assert.equal(await panel.locator(".line-word i.on").count(), 0);
});

learning(
  "one press leads to every chapter",
  async (page) => {
    for (const chapter of await page.locator(".contents a").all()) {
      const title = (await chapter.innerText()).trim();
      await chapter.click();
      await page.waitForFunction((name) => document.activeElement?.textContent?.trim() === name, title);
    }
  },
  { moving: true },
);

learning("every chapter has something to move, and it moves the figures", async (page) => {
  for (const panel of ["size", "probes", "cost", "growth", "window", "formulas"]) {
    const place = page.locator(`.panel.${panel}`);
    for (const each of await place.getByRole("slider").all()) {
      const said = async (): Promise<string> => {
        const drawn = await place.getByRole("img").evaluateAll((parts) => parts.map((part) => part.ariaLabel));
        return [await place.innerText(), ...drawn].join("\n");
      };
      const before = await said();
      await each.focus();
      for (let i = 0; i < 3; ++i) await page.keyboard.press("ArrowRight");
      assert.notEqual(await said(), before, `${panel}: ${await each.getAttribute("aria-valuetext")}`);
    }
  }
});

learning("growth: layers are added, and the rate stays below the promise", async (page) => {
  const panel = page.locator(".panel.growth");
  await slider(panel, "Words added").fill("4");
  assert.equal(await panel.locator(".layers li").count(), 4);
  assert.match(await panel.locator(".answer").innerText(), /4 layers: 0\.\d+ % of new words get a wrong answer\. In one row: 99\.5 %/);
});

learning("forgetting: a word is remembered for the window, and no longer", async (page) => {
  const panel = page.locator(".panel.window");
  await panel.getByRole("button", { name: "Add “alice” now" }).click(); // at 2:30, in the slice until 4:00
  assert.match(await panel.locator(".answer").innerText(), /remembered for 11:30 more/);
  const time = slider(panel, "Time");
  await time.fill("834");
  assert.match(await panel.locator(".answer").innerText(), /remembered for 0:06 more/);
  await time.fill("840");
  assert.match(await panel.locator(".answer").innerText(), /is forgotten.*remembered it for 11:30/);
});

learning(
  "forgetting: time runs by itself when asked to",
  async (page) => {
    const panel = page.locator(".panel.window");
    await panel.getByRole("button", { name: "Run" }).click();
    const time = slider(panel, "Time");
    await page.waitForFunction((input) => Number((input as HTMLInputElement).value) > 170, await time.elementHandle());
    await panel.getByRole("button", { name: "Pause" }).dispatchEvent("click");
    const stopped = await time.inputValue();
    await panel.getByRole("button", { name: "Add “alice” now" }).click();
    assert.equal(await time.inputValue(), stopped);
    await panel.getByRole("button", { name: "Start again" }).click();
    assert.equal(await time.inputValue(), "150");
    await panel.getByText("has not been added yet").waitFor();
  },
  { moving: true },
);

/** The papers, by what cannot be written in two ways. */
const papers = [
  ["Bloom", "1970", "https://doi.org/10.1145/362686.362692"],
  ["Kirsch", "2006", "https://doi.org/10.1007/11841036_42"],
  ["Putze", "2007", "https://doi.org/10.1007/978-3-540-72845-0_9"],
];

for (const language of ["en", "zh"] as const)
  learning(
    `the formulas: set as mathematics, with the figures of the chosen numbers, and the papers that they are from (${language})`,
    async (page) => {
      const panel = page.locator(".panel.formulas");
      const [bits, probes] = await panel.locator(".quantity input:not([type=range])").all();
      await bits.fill("12");
      await probes.fill("5");
      const rate = classicRate(5, 12);
      assert.deepEqual(await panel.locator("output").allInnerTexts(), [
        chance(1 - Math.exp(-5 / 12)),
        chance(rate),
        "8.3",
        chance(2 ** (-12 * Math.LN2)),
        (Math.log2(1 / rate) / Math.LN2).toFixed(1),
        chance(rateOf("line-8x64", 12)),
        chance(rateOf("two-line-8x64", 12)),
      ]);
      const flat = await panel.locator("math").evaluateAll((all) =>
        all.filter((math) => {
          const [p] = math.querySelectorAll("msup > :last-child");
          // A power that is set as one is smaller than its base.
          const isRaised = !p || parseFloat(getComputedStyle(p).fontSize) < parseFloat(getComputedStyle(math).fontSize);
          return math.namespaceURI !== "http://www.w3.org/1998/Math/MathML" || math.getBoundingClientRect().height < 10 || !isRaised;
        }).length,
      );
      assert.equal(flat, 0);
      assert.equal(await panel.locator("math[display=block]").count(), 9);
      const references = panel.locator(".references li");
      assert.equal(await references.count(), papers.length);
      for (const [i, [author, year, address]] of papers.entries()) {
        assert.match(await references.nth(i).innerText(), new RegExp(`${author}.*${year}`, "s"));
        assert.equal(await references.nth(i).getByRole("link").getAttribute("href"), address);
        assert.equal(await panel.locator(".formula-list").getByRole("link", { name: String(i + 1) }).first().getAttribute("href"), address);
      }
    },
    { language },
  );

for (const look of [{ width: 320 }, { width: 375, language: "zh" as const }, { width: 1280 }])
  learning(
    `the formulas: none is cut (${look.width}, ${look.language ?? "en"})`,
    async (page) => {
      const cut = await page.locator(".panel.formulas math").evaluateAll((all) =>
        all
          .filter((math) => {
            const [own, row] = [math.firstElementChild!, math.closest("li")!].map((part) => part.getBoundingClientRect());
            return own.left < row.left - 1 || own.right > row.right + 1;
          })
          .map((math) => math.textContent),
      );
      assert.deepEqual(cut, []);
      assert.ok((await page.locator(".panel.formulas math").count()) > 0);
    },
    look,
  );
