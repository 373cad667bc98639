import assert from "node:assert/strict";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { after, before, test } from "node:test";

import type { Locator, Page } from "playwright-core";

import { bytes, chance, shortCount } from "page/ui/format";

import { field, slider, Visitor } from "../support/browser";
import type { Look } from "../support/browser";
import { printed, program, Serving } from "../support/serving";

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

interface PrintedRow {
  structure: string;
  keys: number;
  bytes: number;
  probes: number;
  cache_lines: number;
  error_rate: number;
}

interface Printed {
  picked: string;
  structures: PrintedRow[];
}

const rowOf = ({ structures }: Printed, name: string): PrintedRow => structures.find((row) => row.structure === name)!;

const memory = "Memory m in bits, or in bytes with a B";

/** Chooses which of the four is computed. */
async function find(page: Page, name: string): Promise<void> {
  await page.getByRole("radio", { name: new RegExp(`^${name}`) }).check();
}

async function planned(...args: string[]): Promise<Printed> {
  return JSON.parse(await printed(program, ["plan", "--json", ...args])) as Printed;
}

/** Waits until a row shows a memory: answers come a moment after the slider moved. */
async function showsMemory(page: Page, structure: string, size: number): Promise<void> {
  await page.locator(`tr[data-structure="${structure}"] td`, { hasText: bytes(size) }).first().waitFor();
}

planning("shows the results of the program, for every structure", async (page) => {
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
  await slider(page, "Number of different keys n").fill("9");
  await slider(page, "Error rate p: new keys called seen").fill("-6");
  const expected = await planned("--keys", "1000000000", "--error-rate", "1e-6");
  for (const row of expected.structures) await showsMemory(page, row.structure, row.bytes);
  assert.equal(await page.locator("tr.picked").getAttribute("data-structure"), expected.picked);
});

/** The answer of the command line to numbers: the plan, or a refusal. */
async function commandLine(keys: string, rate: string): Promise<Printed | null> {
  return planned("--keys", keys, "--error-rate", rate).catch(() => null);
}

planning("reads and refuses numbers as the command line does", async (page) => {
  const keys = field(page, "Number of different keys n");
  const rate = field(page, "Error rate p: new keys called seen");
  for (const [typedKeys, typedRate] of [
    ["3M", "0.1%"],
    ["1.5G", "1e-6"],
    ["64Ki", "0.002"],
    ["1", "0.5"],
    ["281474976710656", "1e-15"],
    ["2500e3", "5e-4%"],
    ["1,000,000", "1%"],
    ["1_000_000", "1e-2"],
    ["1MB", "0.01"],
    ["1MiB", ".01"],
  ]) {
    await keys.fill(typedKeys);
    await rate.fill(typedRate);
    const expected = (await commandLine(typedKeys, typedRate))!;
    for (const row of expected.structures) await showsMemory(page, row.structure, row.bytes);
  }
  for (const refused of ["", "0", "1.5", "ten", "-1", "300T", "1e", "10 million", "1,00", "1_0000", "1Mb"]) {
    await keys.fill(refused);
    assert.equal(await keys.getAttribute("aria-invalid"), "true", refused);
    assert.equal(await commandLine(refused, "0.1%"), null, refused);
  }
  await page.getByText("From 1 to 281474976710656, for example 1000, 10M, 1e9.").waitFor();
  for (const refused of ["", "0", "0.6", "1e-16", "1/1000"]) {
    await rate.fill(refused);
    assert.equal(await rate.getAttribute("aria-invalid"), "true", refused);
    assert.equal(await commandLine("1M", refused), null, refused);
  }
});

/** The words that a field is described by, as a screen reader says them after its name. */
async function description(of: Locator): Promise<string> {
  const id = await of.getAttribute("aria-describedby");
  return id === null ? "" : of.page().locator(`[id="${id}"]`).innerText();
}

/** What is typed, and the words that say why it is not taken. */
const refusedKeys: [string, string, string][] = [
  ["", "A number is missing.", "缺少一个数。"],
  ["-1", "It cannot be below zero.", "不能小于零。"],
  ["1/2", "Fractions are not read: write decimals.", "不接受分数，请写成小数。"],
  ["1,5", "Commas group three digits each, as in 1,000,000. Decimals begin with a point.", "逗号每三位分一组，例如 1,000,000；小数点用句点。"],
  ["1 000", "A number has no blanks inside.", "数的中间不能有空格。"],
  ["10 million", "This unit is not known. Units are k, M, G, T and Ki, Mi, Gi, Ti, and B for bytes.", "不认识这个单位。单位有 k、M、G、T 和 Ki、Mi、Gi、Ti，字节再加 B。"],
  ["1.5", "Only whole numbers are taken.", "只接受整数。"],
  ["ten", "This is not a number.", "这不是一个数；数字用半角的 0 到 9。"],
  ["0", "This is too small.", "太小了。"],
  ["300T", "This is too large.", "太大了。"],
];

for (const language of ["en", "zh"] as const) {
  const isEnglish = language === "en";
  const keysName = isEnglish ? "Number of different keys n" : "不同的键的数量 n";
  const rateName = isEnglish ? "Error rate p: new keys called seen" : "错误率 p：被误判为见过的新键";
  const range = isEnglish ? "From 1 to 281474976710656, for example 1000, 10M, 1e9." : "从 1 到 281474976710656，例如 1000, 10M, 1e9。";

  planning(
    `words beside a field say why what is typed there is not taken (${language})`,
    async (page) => {
      const keys = field(page, keysName);
      for (const [typed, english, chinese] of refusedKeys) {
        await keys.fill(typed);
        assert.equal(await description(keys), `${isEnglish ? `${english} ` : `${chinese} `}${range}`, typed);
      }
      await keys.fill("10M");
      assert.equal(await description(keys), "");
      const rate = field(page, rateName);
      await rate.fill("1k");
      assert.ok((await description(rate)).startsWith(isEnglish ? "A rate has no unit but %." : "比率没有单位，只能用 %。"));
    },
    { language },
  );

  planning(
    `what was not taken is still explained when the field shows its value again, until something else is chosen (${language})`,
    async (page) => {
      const keys = field(page, keysName);
      await keys.fill("ten");
      await page.keyboard.press("Enter");
      assert.equal(await keys.inputValue(), "ten");
      await page.keyboard.press("Tab");
      assert.equal(await keys.inputValue(), isEnglish ? "10 million" : "1,000 万");
      const words = isEnglish ? "“ten” was not taken. This is not a number." : "没有采用“ten”。这不是一个数；数字用半角的 0 到 9。";
      assert.equal(await description(keys), `${words} ${range}`);
      await page.keyboard.press("ArrowRight");
      assert.equal(await description(keys), "");
    },
    { language },
  );

  test(`what a link asks for and does not get is said (${language})`, async () => {
    const visitor = await Visitor.come(server.address, { language });
    const page = await visitor.follow("/#plan?find=bits&keys=10%20million&error_rate=1%25&layout=best&probe=3");
    const words = isEnglish ? "Not taken from the address: layout=best, probe=3" : "地址里的这些没有采用：layout=best, probe=3";
    await page.getByText(words).waitFor();
    const keys = field(page, keysName);
    const isSaid = (said: string): boolean => said.startsWith(isEnglish ? "“10 million” was not taken. This unit" : "没有采用“10 million”。不认识");
    assert.ok(isSaid(await description(keys)), await description(keys));
    assert.equal(await description(field(page, rateName)), "");
    await slider(page, rateName).press("ArrowLeft");
    await page.getByText(words).waitFor({ state: "detached" });
    // The field follows in a rendering of its own.
    for (let left = 5000; left > 0 && (await description(keys)) !== ""; --left) await page.waitForTimeout(20);
    assert.equal(await description(keys), "");
    await visitor.leave();
  });
}

planning("says that the bitmap is for as many values as there are keys, where fewer are given", async (page) => {
  const values = field(page, "Possible values, for the bitmap");
  await values.fill("1M");
  assert.equal(await description(values), "There are at least as many possible values as keys: the bitmap is for 10 million.");
  await values.fill("100M");
  assert.equal(await description(values), "");
});

/** Plans that the planner refuses, and why, in Chinese. */
const impossible: [string, RegExp][] = [
  ["find=probes&keys=10M&bits=1MB&error_rate=0.001", /^没有这样的过滤器： 没有哪个探测次数能达到错误率 0\.001：最好的 1 次达到 [\d.]+。/],
  ["find=keys&bits=512&error_rate=1e-15", /^没有这样的过滤器： 按这个错误率，64 字节装不下一个键。/],
  ["find=bits&keys=1M&error_rate=1e-15&probes=1", /^没有这样的过滤器： classic 布局的一段装 1000000 个键会超过 2⁶² 比特。/],
];

test("explains in Chinese why there is no such filter", async () => {
  const visitor = await Visitor.come(server.address, { language: "zh" });
  const page = await visitor.open("plan");
  for (const [query, words] of impossible) {
    await visitor.follow(`/#plan?${query}`);
    await page.locator(".plan-picked .problem").filter({ hasText: words }).waitFor();
    assert.equal(await page.locator(".plan-picked [lang=en]").count(), 0, query);
  }
  await visitor.leave();
});

planning("a field steps by keys as its slider does, and announces its value in words when it loses the focus", async (page) => {
  const keys = field(page, "Number of different keys n");
  await keys.focus();
  assert.equal(await keys.inputValue(), "10M");
  await page.keyboard.press("ArrowUp");
  assert.equal(await keys.inputValue(), "12.6M");
  await page.keyboard.press("PageDown");
  assert.equal(await slider(page, "Number of different keys n").inputValue(), "6.1");
  await keys.fill("nonsense");
  await page.keyboard.press("Tab");
  assert.equal(await keys.inputValue(), "1.26 million");
  assert.equal(await keys.getAttribute("aria-invalid"), "false");
});

planning("accepts typed bits, probes and values", async (page) => {
  await find(page, "Error rate");
  await field(page, memory).fill("205M");
  await showsMemory(page, "classic", 205e6 / 8);
  await field(page, "Probes k: bits a key").fill("3");
  await page.waitForFunction(() => document.querySelectorAll('tr[data-structure="classic"] td')[2]?.textContent === "3");
  await field(page, "Possible values, for the bitmap").fill("1Ti");
  await showsMemory(page, "bitmap", 2 ** 40 / 8);
});

planning(
  "on a phone the answer stays in view while controls move",
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
      await page.locator(".plan-answer .plot canvas").waitFor();
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

/** The large answer, once it shows the expected quantity. */
const found = (page: Page, name: string): Locator => page.locator(`.plan-picked .big[data-found="${name}"]`);

planning("any three of keys, memory, error rate and probes give the fourth, as in the program", async (page) => {
  await find(page, "Error rate");
  await field(page, memory).fill("16MiB");
  await field(page, "Probes k: bits a key").fill("5");
  const rate = rowOf(await planned("--keys", "10M", "--bytes", "16Mi", "--probes", "5"), "classic").error_rate;
  await found(page, "error_rate").filter({ hasText: chance(rate) }).waitFor();

  await find(page, "Keys");
  await field(page, "Error rate p: new keys called seen").fill("1%");
  const keys = rowOf(await planned("--bytes", "16Mi", "--error-rate", "0.01", "--probes", "5"), "classic").keys;
  await found(page, "keys").filter({ hasText: shortCount(keys, "en") }).waitFor();

  await find(page, "Memory");
  await field(page, "Number of different keys n").fill("1M");
  const size = rowOf(await planned("--keys", "1M", "--error-rate", "0.01", "--probes", "5"), "classic").bytes;
  await found(page, "bits").filter({ hasText: bytes(size) }).waitFor();

  await find(page, "Probes");
  await field(page, memory).fill("10M");
  const probes = rowOf(await planned("--keys", "1M", "--error-rate", "0.01", "--bits", "10M"), "classic").probes;
  await found(page, "probes").filter({ hasText: new RegExp(`^${probes}$`) }).waitFor();
  assert.match(await page.locator(".command code").innerText(), new RegExp(`--layout classic --probes ${probes}$`));
});

planning("a computed quantity becomes an input when another one is computed", async (page) => {
  const size = rowOf(await planned("--keys", "10M", "--error-rate", "0.001"), "line-8x64").bytes;
  await find(page, "Error rate");
  await found(page, "error_rate").filter({ hasText: "0.1 %" }).waitFor();
  await showsMemory(page, "line-8x64", size);
  assert.equal(await field(page, memory).inputValue(), bytes(size));
});

planning("explains why there is no number of probes, and shows no figures of an earlier input", async (page) => {
  await find(page, "Probes");
  await field(page, memory).fill("1MB");
  await page.getByText("no number of probes reaches an error rate of 0.001").waitFor();
  assert.equal(await page.locator(".plan-table, .plan-picked .big").count(), 0);
});

planning("accepts a layout and a number of probes", async (page) => {
  await page.getByLabel("Layout", { exact: true }).selectOption("classic");
  await slider(page, "Probes k: bits a key").fill("4");
  await page.locator('tr.picked[data-structure="classic"]').waitFor();
  await page.waitForFunction(() => document.querySelectorAll('tr[data-structure="classic"] td')[2]?.textContent === "4");
});

planning("draws the rate against keys for every layout", async (page) => {
  const plot = page.getByRole("img", { name: /Error rate against keys for every layout/ });
  await plot.locator("canvas").waitFor();
  assert.equal(await page.locator(".legend span").count(), 5);
});

planning("draws complete curves even if the layouts hold different numbers of keys", async (page) => {
  await find(page, "Keys");
  await found(page, "keys").waitFor();
  const drawn = (): Promise<number> =>
    page.locator(".plan-answer canvas").evaluate((canvas: HTMLCanvasElement) => {
      const { data } = canvas.getContext("2d")!.getImageData(0, 0, canvas.width, canvas.height);
      const columns = new Set<number>();
      for (let at = 0; at < data.length; at += 4)
        if (data[at] === 0xb7 && data[at + 1] === 0x74 && data[at + 2] === 0) columns.add((at / 4) % canvas.width);
      return columns.size / canvas.width;
    });
  assert.ok((await drawn()) > 0.5, `the curve of the choice fills ${await drawn()} of the width`);
});

planning("shows a working command line, and copies it", async (page) => {
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
  await field(page, "Number of different keys n").focus();
  await page.keyboard.press("Control+a");
  await page.keyboard.press("Control+v");
  const pasted = await field(page, "Number of different keys n").inputValue();
  assert.equal(pasted, await page.locator(".command code").innerText());
  await visitor.leave();
});

planning(
  "plans in Chinese",
  async (page) => {
    assert.equal(await page.locator("h1").innerText(), "规划一个过滤器");
    await slider(page, "不同的键的数量 n").fill("6");
    const expected = await planned("--keys", "1000000", "--error-rate", "0.001");
    for (const row of expected.structures) await showsMemory(page, row.structure, row.bytes);
    assert.match(await page.locator(".plan-picked").innerText(), /缓存行/);
  },
  { language: "zh" },
);

test("reports an unavailable server, and continues when it is back", async () => {
  const own = await Serving.start();
  const visitor = await Visitor.come(own.address);
  const page = await visitor.open("plan");
  await page.locator(".plan-table").waitFor();
  await own.stop();
  await slider(page, "Number of different keys n").fill("8");
  const away = page.getByRole("status").filter({ hasText: "does not answer" });
  await away.waitFor();
  const again = await Serving.start([], own.port);
  const expected = await planned("--keys", "100000000", "--error-rate", "0.001");
  await showsMemory(page, "classic", expected.structures.find((row) => row.structure === "classic")!.bytes);
  await away.waitFor({ state: "detached" });
  await visitor.leave();
  await again.stop();
});

test("asks for a password where the server requires one, and remembers it for Watch", async () => {
  const own = await Serving.start(["--password", "sesame"]);
  const visitor = await Visitor.come(own.address);
  const page = await visitor.open("plan");
  await page.getByLabel("Password", { exact: true }).fill("wrong");
  await page.keyboard.press("Enter");
  await page.getByText("No user has this password").waitFor();
  await page.getByLabel("Password", { exact: true }).fill("sesame");
  await page.keyboard.press("Enter");
  await page.locator(".plan-table").waitFor();
  await visitor.open("watch");
  await page.getByRole("heading", { name: "There is no filter yet" }).waitFor();
  await visitor.leave();
  await own.stop();
});
