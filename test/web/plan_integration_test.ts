import assert from "node:assert/strict";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { after, before, test } from "node:test";

import type { Browser, Page } from "playwright-core";

import { bytes } from "page/ui/format";

import { launch, Visitor } from "./browser";
import { printed, program, Serving } from "./serving";

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

function planning(name: string, body: (page: Page) => Promise<void>, language: "en" | "zh" = "en"): void {
  test(name, async () => {
    const visitor = await Visitor.come(browser, server.address, { language });
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
  await page.getByLabel("Different keys that will come").fill("9");
  await page.getByLabel("Keys wrongly called seen").fill("-6");
  const expected = await planned("--keys", "1000000000", "--error-rate", "1e-6");
  for (const row of expected.structures) await showsMemory(page, row.structure, row.bytes);
  assert.equal(await page.locator("tr.picked").getAttribute("data-structure"), expected.picked);
});

planning("takes bits a key instead of a rate", async (page) => {
  await page.getByLabel("the memory").check();
  const bits = page.getByLabel("Bits a key");
  await bits.fill("20");
  await showsMemory(page, "classic", (1e7 * 20) / 8);
});

planning("takes a layout and a number of probes", async (page) => {
  await page.getByLabel("Layout", { exact: true }).selectOption("classic");
  await page.getByLabel("Probes (classic layout)").fill("4");
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

planning(
  "plans in Chinese",
  async (page) => {
    assert.equal(await page.locator("h1").innerText(), "规划一个过滤器");
    await page.getByLabel("会来多少个不同的键").fill("6");
    const expected = await planned("--keys", "1000000", "--error-rate", "0.001");
    for (const row of expected.structures) await showsMemory(page, row.structure, row.bytes);
    assert.match(await page.locator(".plan-picked").innerText(), /缓存行/);
  },
  "zh",
);

test("says when the server is away, and goes on when it is back", async () => {
  const own = await Serving.start();
  const visitor = await Visitor.come(browser, own.address);
  const page = await visitor.open("plan");
  await page.locator(".plan-table").waitFor();
  await own.stop();
  await page.getByLabel("Different keys that will come").fill("8");
  await page.getByRole("alert").filter({ hasText: "does not answer" }).waitFor();
  const again = await Serving.start([], own.port);
  const expected = await planned("--keys", "100000000", "--error-rate", "0.001");
  await showsMemory(page, "classic", expected.structures.find((row) => row.structure === "classic")!.bytes);
  assert.equal(await page.getByRole("alert").count(), 0);
  await visitor.leave();
  await again.stop();
});
