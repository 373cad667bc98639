import assert from "node:assert/strict";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { after, before, test } from "node:test";

import type { Page } from "playwright-core";

import { bytes } from "page/ui/format";

import { field, slider, Visitor } from "./browser";
import type { Look } from "./browser";
import { printed, program, Serving } from "./serving";

let server: Serving;

before(async () => {
  server = await Serving.start();
});
after(async () => {
  await server?.stop();
});

function planning(name: string, body: (page: Page) => Promise<void>, look: Look = {}): void {
  test(name, async () => {
    const visitor = await Visitor.come(server.address, look);
    const page = await visitor.open("plan");
    await page.locator(".plan-table").waitFor();
    await body(page);
    await visitor.leave();
  });
}

interface Printed {
  picked: string;
  structures: { structure: string; bytes: number; bits_per_key: number; probes: number; cache_lines: number }[];
}

async function planned(...args: string[]): Promise<Printed> {
  return JSON.parse(await printed(program, ["plan", "--json", ...args])) as Printed;
}

/** Waits until a row shows a memory: answers come a moment after the slider moved. */
async function showsMemory(page: Page, structure: string, size: number): Promise<void> {
  await page.locator(`tr[data-structure="${structure}"] td`, { hasText: bytes(size) }).first().waitFor();
}

planning("shows what the program itself computes, for every structure", async (page) => {
  const expected = await planned("--keys", "10000000", "--error-rate", "0.001", "--values", "10000000000");
  assert.equal(expected.structures.length, 7);
  for (const row of expected.structures) {
    await showsMemory(page, row.structure, row.bytes);
    const cells = await page.locator(`tr[data-structure="${row.structure}"] td`).allInnerTexts();
    assert.equal(cells[2], String(row.probes), row.structure);
    assert.equal(cells[3], String(row.cache_lines), row.structure);
  }
  assert.equal(await page.locator("tr.picked").getAttribute("data-structure"), expected.picked);
});

planning("follows the sliders of keys and error rate", async (page) => {
  await slider(page, "Different keys that will come").fill("9");
  await slider(page, "Keys wrongly called seen").fill("-6");
  const expected = await planned("--keys", "1000000000", "--error-rate", "1e-6");
  for (const row of expected.structures) await showsMemory(page, row.structure, row.bytes);
  assert.equal(await page.locator("tr.picked").getAttribute("data-structure"), expected.picked);
});

/** What the command line says of numbers: the plan, or that it refuses them. */
async function commandLine(keys: string, rate: string): Promise<Printed | null> {
  return planned("--keys", keys, "--error-rate", rate).catch(() => null);
}

planning("reads numbers as the command line does, and refuses what it refuses", async (page) => {
  const keys = field(page, "Different keys that will come");
  const rate = field(page, "Keys wrongly called seen");
  for (const [typedKeys, typedRate] of [
    ["3M", "0.1%"],
    ["1.5G", "1e-6"],
    ["64Ki", "0.002"],
    ["1", "0.5"],
    ["281474976710656", "1e-15"],
    ["2500e3", "5e-4%"],
  ]) {
    await keys.fill(typedKeys);
    await rate.fill(typedRate);
    const expected = (await commandLine(typedKeys, typedRate))!;
    for (const row of expected.structures) await showsMemory(page, row.structure, row.bytes);
  }
  for (const refused of ["", "0", "1.5", "ten", "-1", "300T", "1e", "10 million"]) {
    await keys.fill(refused);
    assert.equal(await keys.getAttribute("aria-invalid"), "true", refused);
    assert.equal(await commandLine(refused, "0.1%"), null, refused);
  }
  await page.getByText("From 1 to 281474976710656, as in 1000, 10M, 1e9.").waitFor();
  for (const refused of ["", "0", "0.6", "1e-16", "1/1000"]) {
    await rate.fill(refused);
    assert.equal(await rate.getAttribute("aria-invalid"), "true", refused);
    assert.equal(await commandLine("1M", refused), null, refused);
  }
});

planning("a field steps by keys as its slider does, and says its value in words when it is left", async (page) => {
  const keys = field(page, "Different keys that will come");
  await keys.focus();
  assert.equal(await keys.inputValue(), "10M");
  await page.keyboard.press("ArrowUp");
  assert.equal(await keys.inputValue(), "12.6M");
  await page.keyboard.press("PageDown");
  assert.equal(await slider(page, "Different keys that will come").inputValue(), "6.1");
  await keys.fill("nonsense");
  await page.keyboard.press("Tab");
  assert.equal(await keys.inputValue(), "1.26 million");
  assert.equal(await keys.getAttribute("aria-invalid"), "false");
});

planning("takes typed bits, probes and values", async (page) => {
  await page.getByLabel("the memory").check();
  await field(page, "Bits a key").fill("20.5");
  await showsMemory(page, "classic", (1e7 * 20.5) / 8);
  await field(page, "Probes (classic layout)").fill("3");
  await page.waitForFunction(() => document.querySelectorAll('tr[data-structure="classic"] td')[2]?.textContent === "3");
  await field(page, "Different values that could exist, for a bitmap").fill("1Ti");
  await showsMemory(page, "bitmap", 2 ** 40 / 8);
});

planning(
  "on a phone the answer stays in view while anything is moved",
  async (page) => {
    for (const each of await page.getByRole("slider").all()) {
      await each.scrollIntoViewIfNeeded();
      const box = (await page.locator(".plan-picked").boundingBox())!;
      const moved = (await each.boundingBox())!;
      assert.ok(box.y >= 0 && box.y + box.height <= 740, `the answer is at ${box.y}`);
      assert.ok(box.y + box.height <= moved.y || box.y >= moved.y + moved.height, "the answer covers what is moved");
    }
  },
  { width: 360, height: 740 },
);

for (const look of [{ width: 1200 }, { width: 360 }, { width: 360, language: "zh" as const }])
  planning(
    `no name of an axis is cut (${look.width}, ${look.language ?? "en"})`,
    async (page) => {
      const [room, needed] = await page.locator(".plan-answer .plot").evaluate((plot) => {
        const canvas = plot.querySelector("canvas")!;
        const context = canvas.getContext("2d")!;
        context.font = '12px "Atkinson Hyperlegible Next Variable", "Noto Sans CJK SC", sans-serif';
        const end = document.documentElement.lang === "en" ? "20 million" : "2,000 万";
        const right = (part: Element): number => part.getBoundingClientRect().right;
        return [right(canvas) - right(plot.querySelector(".u-over")!), context.measureText(end).width / 2];
      });
      assert.ok(room >= needed, `${room} pixels for ${needed}`);
    },
    look,
  );

planning("takes bits a key instead of a rate", async (page) => {
  await page.getByLabel("the memory").check();
  const bits = slider(page, "Bits a key");
  await bits.fill("20");
  await showsMemory(page, "classic", (1e7 * 20) / 8);
});

planning("takes a layout and a number of probes", async (page) => {
  await page.getByLabel("Layout", { exact: true }).selectOption("classic");
  await slider(page, "Probes (classic layout)").fill("4");
  await page.locator('tr.picked[data-structure="classic"]').waitFor();
  await page.waitForFunction(() => document.querySelectorAll('tr[data-structure="classic"] td')[2]?.textContent === "4");
});

planning("prefers few probes for plain Redis", async (page) => {
  await page.getByLabel(/plain Redis/).check();
  await page.locator('tr.picked[data-structure="classic"]').waitFor();
});

planning("draws the rate against keys for every layout", async (page) => {
  const plot = page.getByRole("img", { name: /Error rate against keys for every layout/ });
  assert.ok((await plot.locator("canvas").count()) > 0);
  assert.equal(await page.locator(".legend span").count(), 5);
});

planning("gives a command line that works, and copies it", async (page) => {
  await page.context().grantPermissions(["clipboard-read", "clipboard-write"]);
  await page.getByRole("button", { name: "Copy" }).click();
  await page.getByRole("button", { name: "Copied" }).waitFor();
  const line = await page.evaluate(() => navigator.clipboard.readText());
  assert.equal(line, await page.locator(".command code").innerText());
  const [name, ...args] = line.trim().split(/\s+/);
  assert.equal(name, "everseen");
  const directory = await mkdtemp(path.join(tmpdir(), "everseen-plan-"));
  assert.match(await printed(program, [...args, "--store", `file:${directory}`]), /created .*: 10,000,000 keys/);
  await rm(directory, { recursive: true });
});

test("copies also where the browser has no clipboard to write to", async () => {
  const visitor = await Visitor.come(server.address);
  const page = await visitor.open("plan");
  await page.evaluate(() => Object.defineProperty(navigator, "clipboard", { value: undefined }));
  await page.getByRole("button", { name: "Copy" }).click();
  const copied = page.getByRole("button", { name: "Copied" });
  await copied.waitFor();
  assert.ok(await copied.evaluate((button) => button === document.activeElement), "the focus is lost");
  await field(page, "Different keys that will come").focus();
  await page.keyboard.press("Control+a");
  await page.keyboard.press("Control+v");
  const pasted = await field(page, "Different keys that will come").inputValue();
  assert.equal(pasted, await page.locator(".command code").innerText());
  await visitor.leave();
});

planning(
  "plans in Chinese",
  async (page) => {
    assert.equal(await page.locator("h1").innerText(), "规划一个过滤器");
    await slider(page, "会来多少个不同的键").fill("6");
    const expected = await planned("--keys", "1000000", "--error-rate", "0.001");
    for (const row of expected.structures) await showsMemory(page, row.structure, row.bytes);
    assert.match(await page.locator(".plan-picked").innerText(), /缓存行/);
  },
  { language: "zh" },
);

test("says when the server is away, and goes on when it is back", async () => {
  const own = await Serving.start();
  const visitor = await Visitor.come(own.address);
  const page = await visitor.open("plan");
  await page.locator(".plan-table").waitFor();
  await own.stop();
  await slider(page, "Different keys that will come").fill("8");
  const away = page.getByRole("status").filter({ hasText: "does not answer" });
  await away.waitFor();
  const again = await Serving.start([], own.port);
  const expected = await planned("--keys", "100000000", "--error-rate", "0.001");
  await showsMemory(page, "classic", expected.structures.find((row) => row.structure === "classic")!.bytes);
  await away.waitFor({ state: "detached" });
  await visitor.leave();
  await again.stop();
});

test("asks for a password where the server wants one, and remembers it for Watch", async () => {
  const own = await Serving.start(["--password", "sesame"]);
  const visitor = await Visitor.come(own.address);
  const page = await visitor.open("plan");
  await page.getByLabel("Password").fill("wrong");
  await page.keyboard.press("Enter");
  await page.getByText("does not know this password").waitFor();
  await page.getByLabel("Password").fill("sesame");
  await page.keyboard.press("Enter");
  await page.locator(".plan-table").waitFor();
  await visitor.open("watch");
  await page.getByRole("heading", { name: "There is no filter yet" }).waitFor();
  await visitor.leave();
  await own.stop();
});
