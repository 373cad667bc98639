/** The API page: complete, its commands work, and every kind of problem leads to its explanation. */

import assert from "node:assert/strict";
import { test } from "node:test";

import type { Page } from "playwright-core";

import { Visitor } from "../support/browser";
import { printed, Serving } from "../support/serving";

interface Document {
  paths: Record<string, Record<string, { operationId: string; responses: Record<string, unknown> }>>;
  components: { schemas: { problem: { properties: { reason: { enum: string[] } } } } };
}

/** A test with a private server and the API page open. */
function reading(name: string, body: (page: Page, server: Serving, api: Document) => Promise<void>): void {
  test(name, async () => {
    const server = await Serving.start();
    try {
      const api = JSON.parse(await printed("curl", ["-sSf", `${server.address}/openapi.json`])) as Document;
      const visitor = await Visitor.come(server.address);
      const page = await visitor.open("docs");
      await page.locator(".operation").first().waitFor();
      await body(page, server, api);
      await visitor.leave();
    } finally {
      await server.stop();
    }
  });
}

function operationsOf({ paths }: Document): { method: string; path: string; id: string; statuses: string[] }[] {
  return Object.entries(paths).flatMap(([path, item]) =>
    Object.entries(item)
      .filter(([method]) => method !== "parameters")
      .map(([method, { operationId, responses }]) => ({ method, path, id: operationId, statuses: Object.keys(responses) })),
  );
}

reading("every operation is listed, with its statuses", async (page, _, api) => {
  const operations = operationsOf(api);
  assert.equal(await page.locator(".operation").count(), operations.length);
  for (const { method, path, id, statuses } of operations) {
    const section = page.locator(`#${id}`);
    assert.equal((await section.getByRole("heading").first().innerText()).replace(/\s+/, " "), `${method.toUpperCase()} ${path}`);
    const shown = await section.locator(".statuses tbody th").allInnerTexts();
    assert.deepEqual(shown.map((each) => each.trim()), statuses, id);
  }
});

reading("each command works unchanged, and answers with a status of its operation", async (page, server, api) => {
  const operations = operationsOf(api);
  // The filter of the commands exists from the second command to the end: its name is given away and created again.
  const others = operations.map(({ id }) => id).filter((id) => !/^(create|rename|drop)Filter$/.test(id));
  const order = ["createFilter", ...others, "renameFilter", "createFilter", "dropFilter"];
  for (const id of order) {
    const line = await page.locator(`#${id} .command code`).innerText();
    assert.ok(line.includes(server.address), line);
    const status = await printed("sh", ["-c", `${line} -sS -o /dev/null -w '%{http_code}'`]);
    assert.match(status, /^2/, line);
    assert.ok(operations.find((each) => each.id === id)!.statuses.includes(status), line);
  }
});

reading("every kind of problem has a section with cause and remedy, and its type links there", async (page, server, api) => {
  for (const reason of api.components.schemas.problem.properties.reason.enum) {
    const words = await page.locator(`#${reason} dd`).allInnerTexts();
    assert.ok(words.length === 3 && words.slice(0, 2).every((each) => each.length > 20), reason);
  }
  const { type } = JSON.parse(await printed("curl", ["-sS", `${server.address}/api/v1/filters/nothing`])) as { type: string };
  assert.equal(new URL(type, server.address).pathname, "/docs");
  await page.goto("about:blank");
  await page.goto(new URL(type, server.address).href);
  const section = page.locator("#no_filter");
  await section.waitFor();
  await page.waitForFunction(() => {
    const { top } = document.getElementById("no_filter")!.getBoundingClientRect();
    return top >= 0 && top < innerHeight / 2;
  });
  assert.match(await section.innerText(), /There is no filter of this name.*POST \/api\/v1\/filters/s);
});

reading("links lead from a status to its problem, and back to the operations that answer with it", async (page) => {
  await page.locator("#dropFilter").getByRole("link", { name: "no_filter" }).click();
  await page.waitForURL(/#no_filter$/);
  await page.locator("#no_filter").getByRole("link", { name: /^DELETE/ }).click();
  await page.waitForURL(/#dropFilter$/);
  await page.goBack();
  await page.waitForFunction(() => document.activeElement?.id === "no_filter");
});

/** Every text of a document that people read, wherever it is. */
function textsOf(part: unknown): string[] {
  if (typeof part !== "object" || part === null) return [];
  return Object.entries(part).flatMap(([name, value]) =>
    typeof value === "string" && ["summary", "description", "cause", "remedy"].includes(name) ? [value] : textsOf(value),
  );
}

reading("every operation, parameter, field, status, cause and remedy is in Chinese, in the language that the page is in", async (page, _, api) => {
  await page.getByRole("button", { name: "中文" }).click();
  for (const summary of await page.locator(".operation summary").all()) await summary.click();
  const described = page.locator(".intro p, .operation > p, .fields td:last-child, .reason dd:not(:last-child)");
  const without = (await described.allInnerTexts()).filter((text) => text && !/\p{Script=Han}/u.test(text));
  assert.deepEqual(without, []);
  const shown = await page.locator(".docs-sections").innerText();
  const english = textsOf(api).filter((text) => /[a-z]{3,} [a-z]{2,}/.test(text) && shown.includes(text.replace(/`/g, "")));
  assert.deepEqual(english, []);
  assert.match(await page.locator("#listFilters .fields").first().innerText(), /最多列出多少个过滤器；最少 1，最多 1000；默认：100/);
  assert.match(await page.locator("#no_filter").innerText(), /没有这个名称的过滤器。.*GET \/api\/v1\/filters/s);
  await page.locator("#no_filter").getByRole("link", { name: /^DELETE/ }).click();
  await page.waitForURL(/lang=zh.*#dropFilter$/);
  await page.getByRole("button", { name: "English" }).click();
  await page.getByText("Removes a filter and all its keys.").waitFor();
});

test("links to the other pages, in the language of this one", async () => {
  const server = await Serving.start();
  const visitor = await Visitor.come(server.address);
  const page = await visitor.follow("/docs?lang=zh");
  await page.getByRole("heading", { name: "HTTP 接口" }).waitFor();
  await page.getByRole("link", { name: "规划", exact: true }).click();
  await page.getByRole("heading", { name: "规划一个过滤器" }).waitFor();
  await page.getByRole("link", { name: "接口", exact: true }).click();
  await page.getByRole("heading", { name: "HTTP 接口" }).waitFor();
  await visitor.leave();
  await server.stop();
});
