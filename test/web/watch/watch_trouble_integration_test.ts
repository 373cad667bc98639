/** The page Watch where something is damaged, locked or slow. */

import assert from "node:assert/strict";
import { mkdir, mkdtemp, readdir, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { test } from "node:test";

import { Visitor } from "../support/browser";
import { RedisServer } from "../support/redis_server";
import { printed, program, Serving } from "../support/serving";
import { figure, shows, watching } from "./watching";

watching("reports that a key cannot be explained because the server does not answer", async (page, server) => {
  await server.cli("BF.ADD", "clicks", "alice");
  await page.getByLabel("Key", { exact: true }).fill("alice");
  await server.stop();
  await page.getByRole("button", { name: "Explain" }).click();
  await page.locator(".explain .problem").filter({ hasText: "The server does not answer" }).waitFor();
});

watching("does not go back to a filter that is gone, though counters of it are still shown", async (page, server) => {
  for (const name of ["clicks", "views"]) await server.cli("BF.RESERVE", name, "0.01", "1000");
  await server.add("clicks", "key", 10);
  await page.getByRole("link", { name: "clicks" }).click();
  await shows(page, "Keys", "10");
  let answer = (): void => undefined;
  const held = new Promise<void>((resolve) => (answer = resolve));
  await page.route(/\/api\/v1\/(stats$|filters\?)/, async (route) => {
    await held;
    await route.continue();
  });
  await server.cli("DEL", "clicks");
  await page.getByRole("heading", { name: "There is no filter “clicks”" }).waitFor();
  await page.getByRole("link", { name: "Show the busiest filter" }).click();
  await page.waitForURL(/#watch$/);
  answer();
  await page.getByRole("heading", { name: "views" }).waitFor();
});

for (const [language, words] of [["en", "It cannot be explained: "], ["zh", "无法解释： "]] as const)
  watching(
    `reports why the server does not explain a key (${language})`,
    async (page, server) => {
      await server.cli("BF.ADD", "clicks", "alice");
      await page.locator("#explain-key").fill("alice");
      // The page must not notice yet that the filter is gone.
      await page.route(/\/api\/v1\/(stats|filters[^/]*|filters\/clicks)$/, () => undefined);
      await server.cli("DEL", "clicks");
      await page.locator("#explain-key").press("Enter");
      await page.locator(".explain .problem").filter({ hasText: new RegExp(`^${words}there is no filter`) }).waitFor();
    },
    { look: { language } },
  );

test("distinguishes damaged filters from unavailable ones, and shows the others", async () => {
  const home = await mkdtemp(path.join(tmpdir(), "everseen-watch-"));
  for (const name of ["away", "bad", "good"]) await printed(program, ["create", name, "--capacity", "1000", "--store", `file:${home}`]);
  for (const entry of await readdir(path.join(home, "bad"), { withFileTypes: true }))
    if (entry.isFile()) await writeFile(path.join(home, "bad", entry.name), "x".repeat(100));
  // A folder in place of a file: the system refuses to read it for any user.
  await rm(path.join(home, "away", "manifest"));
  await mkdir(path.join(home, "away", "manifest"));
  const server = await Serving.start([], 0, `file:${home}`);
  try {
    const visitor = await Visitor.come(server.address);
    const page = await visitor.open("watch");
    await page.getByRole("heading", { name: "good" }).waitFor();
    assert.match(await page.locator(".unread.damaged").innerText(), /^bad\s+damaged: .*\/bad\/.*restore (it|the filter) from an export/);
    assert.match(await page.locator(".unread.unreachable").innerText(), /^away\s+not reachable now:.*cannot read/);
    assert.equal(await page.locator(".unread").count(), 2);
    await page.getByRole("button", { name: "中文" }).click();
    await page.getByText("已损坏：").waitFor();
    await page.getByText("现在无法访问：").waitFor();
    await visitor.leave();
  } finally {
    await server.stop();
    await rm(home, { recursive: true });
  }
});

watching("shows partitions whose figures take longer than a second, and requests them one at a time", async (page, server) => {
  let waiting = 0;
  let most = 0;
  await page.route("**/api/v1/filters/clicks", async (route) => {
    most = Math.max(most, ++waiting);
    await new Promise((resolve) => setTimeout(resolve, 1500));
    --waiting;
    await route.continue().catch(() => undefined); // the page may be closed meanwhile
  });
  await server.cli("BF.RESERVE", "clicks", "0.01", "1000");
  await page.locator(".instance").filter({ hasText: "this process" }).waitFor();
  for (let i = 0; i < 4; ++i) await page.waitForResponse((response) => response.url().endsWith("/api/v1/stats"));
  assert.equal(most, 1);
});

test("reports an outage of the store, and shows the known state of the filters in use", async () => {
  const redis = await RedisServer.start();
  const server = await Serving.start([], 0, `redis://127.0.0.1:${redis.port}?retry_for=100ms`);
  try {
    await server.cli("BF.RESERVE", "clicks", "0.01", "1000");
    await server.add("clicks", "key", 10);
    const visitor = await Visitor.come(server.address);
    const page = await visitor.open("watch");
    await shows(page, "Keys", "10");
    await redis.stop();
    const outage = page.getByText("The list of filters is not available now: redis at");
    await outage.waitFor();
    await shows(page, "Keys", "10");
    await page.reload();
    await outage.waitFor();
    await shows(page, "Keys", "10");
    await page.getByText("It cannot be read now: redis at").waitFor();
    await visitor.leave();
  } finally {
    await server.stop();
  }
});

watching("reports an unavailable server, keeps its last figures, and continues when it is back", async (page, server) => {
  await server.cli("BF.ADD", "clicks", "alice");
  await shows(page, "Keys", "1");
  await server.stop();
  await page.getByText("The server does not answer").waitFor();
  assert.ok(await figure(page, "Keys").isVisible());
  const again = await Serving.start([], server.port);
  await page.getByRole("heading", { name: "There is no filter yet" }).waitFor();
  assert.equal(await page.getByText("The server does not answer").count(), 0);
  await again.stop();
});

watching(
  "asks for a password where the server requires one",
  async (page, server) => {
    await server.cli("-a", "sesame", "--no-auth-warning", "BF.ADD", "clicks", "alice");
    await page.getByRole("heading", { name: "This server requires a password" }).waitFor();
    await page.getByLabel("Password", { exact: true }).fill("wrong");
    await page.keyboard.press("Enter");
    await page.getByText("No user has this password").waitFor();
    await page.getByLabel("Password", { exact: true }).fill("sesame");
    await page.keyboard.press("Enter");
    await page.getByRole("heading", { name: "clicks" }).waitFor();
    await shows(page, "Keys", "1");
  },
  { flags: ["--password", "sesame"] },
);

watching(
  "accepts a password of any letters",
  async (page, server) => {
    await server.cli("-a", "schlüssel 门 🔑", "--no-auth-warning", "BF.ADD", "clicks", "alice");
    await page.getByLabel("Password", { exact: true }).fill("schlüssel 门 🔑");
    await page.keyboard.press("Enter");
    await page.getByRole("heading", { name: "clicks" }).waitFor();
  },
  { flags: ["--password", "schlüssel 门 🔑"] },
);
