import assert from "node:assert/strict";
import { test } from "node:test";

import type { Page } from "playwright-core";

import { Visitor } from "../support/browser";
import { freePort } from "../support/free_port";
import { RedisServer } from "../support/redis_server";
import { printed, Serving } from "../support/serving";
import { shows, watching } from "./watching";

/** The commands for a server without a filter: by curl, by redis-cli if it listens for that, and to add keys. */
async function commands(page: Page): Promise<string[]> {
  await page.getByRole("heading", { name: "There is no filter yet" }).waitFor();
  return page.locator(".command code").allInnerTexts();
}

const pasted = (line: string): Promise<string> => printed("sh", ["-c", line]);

watching("reports that there is no filter yet, and shows commands that create one and add keys", async (page) => {
  const [create, , add] = await commands(page);
  assert.equal(JSON.parse(await pasted(create)).name, "clicks");
  await shows(page, "Keys", "0");
  assert.deepEqual(JSON.parse(await pasted(add)).verdicts, ["fresh", "fresh", "seen"]);
  await shows(page, "Keys", "2");
});

for (const listen of ["127.0.0.1", "0.0.0.0", "[::1]", "unix"])
  test(`the command of redis-cli creates a filter unchanged (${listen})`, async () => {
    const flags = listen === "unix" ? [] : ["--listen", `${listen}:${await freePort()}`, "--open-to-strangers"];
    const server = await Serving.start(flags);
    try {
      const visitor = await Visitor.come(server.address);
      const page = await visitor.open("watch");
      const [, reserve] = await commands(page);
      assert.match(reserve, /^redis-cli /);
      assert.equal(await pasted(reserve), "OK");
      await page.getByRole("heading", { name: "clicks" }).waitFor();
      await visitor.leave();
    } finally {
      await server.stop();
    }
  });

test("opens on the busiest filter, in the list and beside it", async () => {
  const server = await Serving.start();
  try {
    for (const name of ["alpha", "beta", "gamma"]) await server.cli("BF.RESERVE", name, "1e-9", "1000");
    await server.add("alpha", "key", 10);
    await server.add("beta", "key", 300);
    const visitor = await Visitor.come(server.address);
    const page = await visitor.open("watch");
    await page.getByRole("heading", { name: "beta" }).waitFor();
    assert.match(await page.locator(".listing a[aria-current]").innerText(), /^beta\s/);
    await page.waitForURL(/#watch\/beta$/);
    // It stays, although another filter is busier now.
    await server.add("gamma", "key", 900);
    await page.getByText("900 keys, 90.0 % full").waitFor();
    await page.getByRole("heading", { name: "beta" }).waitFor();
    await visitor.leave();
  } finally {
    await server.stop();
  }
});

watching("list and detail show the same number at every moment", async (page, server) => {
  await server.cli("BF.RESERVE", "clicks", "1e-9", "100000");
  await page.getByRole("heading", { name: "clicks" }).waitFor();
  await page.evaluate(() => {
    const seen: string[] = ((window as unknown as { seen: string[] }).seen = []);
    new MutationObserver(() => {
      const listed = document.querySelector(".listing a[aria-current] span")?.textContent?.split(" ")[0];
      const detail = document.querySelector('[data-figure="Keys"] dd')?.textContent;
      seen.push(`${listed} ${detail}`);
    }).observe(document.querySelector(".watch-grid")!, { subtree: true, childList: true, characterData: true });
  });
  for (let hundreds = 1; hundreds <= 4; ++hundreds) {
    await server.add("clicks", `key ${hundreds}`, 100);
    await shows(page, "Keys", `${hundreds}00`);
  }
  const seen = await page.evaluate(() => (window as unknown as { seen: string[] }).seen);
  assert.ok(new Set(seen).size >= 4, "nothing changed");
  assert.deepEqual(seen.filter((pair) => pair.split(" ")[0] !== pair.split(" ")[1]), []);
});

watching("reports that the filter in view was dropped, and links to the busiest", async (page, server) => {
  for (const name of ["clicks", "views"]) await server.cli("BF.RESERVE", name, "0.01", "1000");
  await server.add("clicks", "key", 10);
  await page.getByRole("link", { name: "clicks" }).click();
  await shows(page, "Keys", "10");
  await server.cli("DEL", "clicks");
  await page.getByRole("heading", { name: "There is no filter “clicks”" }).waitFor();
  assert.equal(await page.getByRole("link", { name: "clicks" }).count(), 0);
  await page.getByRole("link", { name: "Show the busiest filter" }).click();
  await page.getByRole("heading", { name: "views" }).waitFor();
});

watching("shows keys, fill and rates as they change", async (page, server) => {
  await server.cli("BF.RESERVE", "clicks", "1e-9", "1000");
  await server.add("clicks", "key", 400);
  await page.getByRole("heading", { name: "clicks" }).waitFor();
  await shows(page, "Keys", "400");
  await shows(page, "Fill", "40.0 %");
  await server.add("clicks", "other", 100);
  await shows(page, "Keys", "500");
  await shows(page, "Fill", "50.0 %");
  assert.match(await page.locator('[data-figure="Error rate now"]').innerText(), /promised 10⁻⁹/);
  await page.getByRole("img", { name: /Error rate now .*, promised 10⁻⁹/ }).waitFor();
});

watching("shows the layers of a filter that grows", async (page, server) => {
  await server.cli("BF.RESERVE", "small", "0.01", "100");
  await server.add("small", "key", 500);
  await page.locator(".segments .layers li").nth(2).waitFor();
  await shows(page, "Layers", "3");
});

watching("shows the slices of a window", async (page, server) => {
  const body = JSON.stringify({ name: "recent", capacity: 1000, error_rate: 0.01, window: "10m", slices: 5 });
  await printed("curl", ["-sSf", "-H", "Content-Type: application/json", "-d", body, `${server.address}/api/v1/filters`]);
  await server.add("recent", "key", 10);
  await page.getByText("remembers 10 min in 5 slices").waitFor();
  await page.getByRole("heading", { name: /slice from/ }).first().waitFor();
});

watching("shows where the partitions are", async (page, server) => {
  await server.cli("BF.RESERVE", "clicks", "0.01", "1000");
  await server.add("clicks", "key", 10);
  await page.locator(".instance").filter({ hasText: "this process" }).filter({ hasText: "1 partition, 10 keys" }).waitFor();
  assert.equal(await page.locator(".instance li").count(), 1);
});

test("shows the partitions of each server, where a filter is spread over several", async () => {
  const servers = [await RedisServer.start(), await RedisServer.start()];
  const places = servers.map((each) => `127.0.0.1:${each.port}`);
  const server = await Serving.start([], 0, `redis://${places.join(",")}`);
  try {
    await server.cli("BF.RESERVE", "clicks", "0.01", "1000");
    await server.add("clicks", "key", 100);
    const visitor = await Visitor.come(server.address);
    const page = await visitor.open("watch");
    for (const place of places) {
      const instance = page.locator(".instance").filter({ hasText: place });
      await instance.waitFor();
      assert.ok((await instance.locator("li").count()) > 0, `${place} has no partition`);
    }
    await visitor.leave();
  } finally {
    await server.stop();
    for (const each of servers) await each.stop();
  }
});

watching("plots adds and verdicts a second", async (page, server) => {
  await server.cli("BF.RESERVE", "clicks", "1e-9", "100000");
  await page.getByRole("heading", { name: "clicks" }).waitFor();
  const keys = page.locator(".activity section").first();
  const shown = keys.locator(".hint").filter({ hasText: /[1-9],?\d* added/ });
  // What is shown is the last second's, so there must be some in each.
  for (let i = 0; !(await shown.isVisible()); ++i) {
    assert.ok(i < 2000, "nothing is shown");
    await server.add("clicks", `key ${i >> 1}`, 1000);
  }
  await keys.getByRole("img", { name: /over the last two minutes/ }).waitFor();
  const verdicts = await page.locator(".activity section").nth(1).innerText();
  assert.match(verdicts, /fresh/);
  assert.match(verdicts, /seen/);
});

watching("explains why a key is seen or fresh, bit by bit", async (page, server) => {
  await server.cli("BF.RESERVE", "clicks", "1e-9", "1000");
  await server.cli("BF.ADD", "clicks", "alice");
  await page.locator(".segments").first().waitFor(); // it moves what is below it
  await page.getByLabel("Key", { exact: true }).fill("alice");
  await page.getByRole("button", { name: "Explain" }).click();
  const said = page.locator(".explain .answer p").first();
  await said.filter({ hasText: /^Seen: probably added\. All \d+ bits are set .*\.$/ }).waitFor();
  const bits = await page.locator(".explained li").count();
  assert.ok(bits >= 8);
  assert.equal(await page.locator(".explained li.on").count(), bits);
  await page.getByLabel("Key", { exact: true }).fill("bob");
  await page.keyboard.press("Enter");
  await said.filter({ hasText: /^Fresh: certainly not added\. At least one of its bits is not set.*\.$/ }).waitFor();
  assert.ok((await page.locator(".explained li:not(.on)").count()) > 0);
  assert.equal(await server.cli("BF.EXISTS", "clicks", "bob"), "0");
});

test("shows a user with read rights the verdict of a key and nothing of how it is hashed", async () => {
  const server = await Serving.start(["--user", "reader:look:read", "--user", "keeper:keep:admin"]);
  try {
    await printed("curl", [
      ...["-sSf", "-H", "Content-Type: application/json", "-H", "Authorization: Bearer keep"],
      ...["-d", JSON.stringify({ name: "clicks" }), `${server.address}/api/v1/filters`],
    ]);
    const visitor = await Visitor.come(server.address);
    const page = await visitor.open("watch");
    await page.locator("#token").fill("look");
    await page.keyboard.press("Enter");
    await page.getByLabel("Key", { exact: true }).fill("alice");
    await page.keyboard.press("Enter");
    await page.getByText("Fresh: certainly not added.").waitFor();
    await page.getByText("Only administrators see the bits").waitFor();
    assert.equal(await page.locator(".explained li").count(), 0);
    assert.equal(await page.locator(".digest").count(), 0);
    await visitor.leave();
  } finally {
    await server.stop();
  }
});

watching("names the slices of a window when it explains a key", async (page, server) => {
  const body = JSON.stringify({ name: "recent", capacity: 1000, error_rate: 1e-9, window: "10m", slices: 5 });
  await printed("curl", ["-sSf", "-H", "Content-Type: application/json", "-d", body, `${server.address}/api/v1/filters`]);
  await server.cli("BF.ADD", "recent", "alice");
  await page.getByRole("heading", { name: /slice from/ }).first().waitFor();
  await page.getByLabel("Key", { exact: true }).fill("alice");
  await page.keyboard.press("Enter");
  await page.getByText(/^slice from \d\d:\d\d:\d\d · layer 0$/).waitFor();
});

watching("lists many filters a page at a time, and requests only what changes", async (page, server) => {
  const lists: string[] = [];
  page.on("request", (request) => request.url().includes("/api/v1/filters?") && lists.push(request.url()));
  const name = (i: number): string => `filter ${String(i).padStart(3, "0")}`;
  await server.cliAll(Array.from({ length: 230 }, (_, i) => `BF.RESERVE "${name(i)}" 0.01 100`));
  await page.getByText("1 to 100 of 230, by name").waitFor();
  assert.ok(await page.getByRole("button", { name: "Previous" }).isDisabled());
  await page.getByRole("button", { name: "Next" }).click();
  await page.getByText("101 to 200 of 230").waitFor();
  await page.getByRole("link", { name: name(100) }).waitFor();
  // The filter in view stays, and is in the list.
  await page.getByRole("heading", { name: name(0) }).waitFor();
  assert.match(await page.locator(".listing a").first().innerText(), /^filter 000/);
  assert.equal(await page.locator(".listing a[aria-current]").innerText(), await page.locator(".listing a").first().innerText());
  await page.getByRole("button", { name: "Next" }).click();
  await page.getByText("201 to 230 of 230").waitFor();
  assert.ok(await page.getByRole("button", { name: "Next" }).isDisabled());
  await page.getByRole("link", { name: name(229) }).click();
  await page.getByRole("heading", { name: name(229) }).waitFor();
  await page.getByRole("button", { name: "Previous" }).click();
  await page.getByRole("link", { name: name(100) }).waitFor();
  lists.length = 0;
  const began = performance.now();
  for (let i = 0; i < 5; ++i) await page.waitForResponse((response) => response.url().endsWith("/api/v1/stats"));
  const due = (performance.now() - began) / 5000 + 1;
  assert.ok(lists.length <= due, `${lists.length} lists where ${due} were due`);
});

watching("shows a filter with the maximum number of partitions", async (page, server) => {
  const body = JSON.stringify({ name: "huge", capacity: 1000000, partitions: 65536 });
  const asJson = ["-H", "Content-Type: application/json", "-d", body];
  await printed("curl", ["-sSf", "-o", "/dev/null", ...asJson, `${server.address}/api/v1/filters`]);
  await page.locator(".instance").filter({ hasText: "65536 partitions" }).waitFor();
  assert.equal(await page.locator(".instance li").count(), 128);
  assert.match(await page.locator(".instance li").first().innerText(), /partition 0–511: 0 keys/);
});

watching("offers a choice of filters, whatever their names are", async (page, server) => {
  const strange = 'a/b "c" <i>春</i>';
  await server.cli("BF.ADD", "plain", "x");
  await server.cli("BF.ADD", strange, "alice");
  await page.getByRole("link", { name: "春" }).click();
  await page.getByRole("heading", { name: strange }).waitFor();
  await page.getByLabel("Key", { exact: true }).fill("alice");
  await page.keyboard.press("Enter");
  await page.getByText("Seen: probably added.").waitFor();
});

watching(
  "watches in Chinese",
  async (page, server) => {
    await page.getByRole("heading", { name: "还没有过滤器" }).waitFor();
    await server.cli("BF.RESERVE", "点击", "1e-9", "1000");
    await server.add("点击", "键", 250);
    await page.getByRole("heading", { name: "点击" }).waitFor();
    await shows(page, "装满", "25.0 %");
    await page.getByLabel("键", { exact: true }).fill("键 7");
    await page.keyboard.press("Enter");
    await page.getByText("见过：很可能添加过。").waitFor();
  },
  { look: { language: "zh" } },
);
