/** A copied link shows the same thing to another visitor, and back and forward work. */

import assert from "node:assert/strict";
import { after, before, test } from "node:test";

import type { Locator, Page } from "playwright-core";

import { field, slider, Visitor } from "./support/browser";
import { Serving } from "./support/serving";

let server: Serving;

before(async () => {
  server = await Serving.start();
  for (const name of ["clicks", "a/b 春"]) await server.cli("BF.RESERVE", name, "0.01", "1000");
  await server.add("clicks", "key", 50);
});
after(async () => {
  await server?.stop();
});

function moving(name: string, body: (page: Page, visitor: Visitor) => Promise<void>): void {
  test(name, async () => {
    const visitor = await Visitor.come(server.address);
    await body(await visitor.open("learn"), visitor);
    await visitor.leave();
  });
}

/** The view of another visitor at the address of this page, with a browser in another language. */
async function shared(page: Page, body: (other: Page) => Promise<void>): Promise<void> {
  const other = await Visitor.come(server.address, { language: "zh" });
  await body(await other.follow(page.url().slice(server.address.length)));
  await other.leave();
  await page.bringToFront();  // a hidden page need not draw, and then does not scroll
}

const inView = (page: Page, chapter: string): Promise<unknown> =>
  page.waitForFunction((id) => {
    const top = document.getElementById(id)!.getBoundingClientRect().top;
    return top >= 0 && top < innerHeight / 2;
  }, `chapter-${chapter}`);

/** Without scrolling to the link: the page takes that for reading another chapter, and writes it into the address. */
const press = (link: Locator): Promise<void> => link.dispatchEvent("click");

const goTo = (page: Page, name: string): Promise<void> => press(page.getByRole("link", { name, exact: true }));

moving("a link has the language", async (page) => {
  await page.waitForURL(/\?lang=en/);
  await shared(page, async (other) => {
    assert.equal(await other.locator("html").getAttribute("lang"), "en");
    await other.getByRole("button", { name: "中文" }).click();
    await other.waitForURL(/\?lang=zh/);
  });
});

moving("a link leads to the current chapter", async (page) => {
  await page.locator(".contents").getByRole("link", { name: "Inside a cache line" }).click();
  await inView(page, "line");
  await page.waitForURL(/#learn\/line$/);
  await shared(page, (other) => inView(other, "line").then(() => undefined));
  // Also to a section that the reader has scrolled to.
  await page.evaluate(() => document.getElementById("chapter-growth")!.scrollIntoView());
  await page.waitForURL(/#learn\/growth$/);
  await page.evaluate(() => scrollTo(0, 0));
  await page.waitForURL(/#learn$/);
});

moving("back and forward go through chapters and pages", async (page) => {
  const chapter = (name: string): Promise<void> => press(page.locator(".contents").getByRole("link", { name }));
  await chapter("Choose a size");
  await inView(page, "size");
  await chapter("Forgetting");
  await inView(page, "window");
  await goTo(page, "Plan");
  await page.locator(".plan-table").waitFor();
  await page.goBack();
  await inView(page, "window");
  await page.goBack();
  await inView(page, "size");
  await page.goForward();
  await page.goForward();
  await page.locator(".plan-table").waitFor();
});

// Whether the browser puts the page where its reader was before or after the page looks where it stands.
moving("going back to a chapter shows it, though the page was idle before", async (page) => {
  await press(page.locator(".contents").getByRole("link", { name: "Forgetting" }));
  await inView(page, "window");
  await goTo(page, "Plan");
  await page.locator(".plan-table").waitFor();
  await page.evaluate(() => new Promise((idle) => requestIdleCallback(idle, { timeout: 10000 })));
  await page.goBack();
  await page.locator(".contents").waitFor();
  await inView(page, "window");
  await page.waitForURL(/#learn\/window$/);
});

moving("a link has the inputs of a plan, and going back restores them", async (page) => {
  await goTo(page, "Plan");
  await page.getByRole("radio", { name: /^Error rate/ }).check();
  await field(page, "Number of different keys n").fill("3M");
  await field(page, "Memory m in bits, or in bytes with a B").fill("4MiB");
  await slider(page, "Probes k: bits a key").fill("6");
  await page.waitForURL(/find=error_rate&keys=3M&bits=4MiB&probes=6/);
  const shown = (on: Page): Promise<string> => on.locator(".plan-picked .four").innerText();
  await page.locator(".command").filter({ hasText: "--probes 6" }).waitFor();
  const answer = await shown(page);
  await shared(page, async (other) => {
    await other.locator(".command").filter({ hasText: "--probes 6" }).waitFor();
    assert.equal(await shown(other), answer);
  });
  for (const back of [() => page.goBack(), () => goTo(page, "Plan")]) {
    await goTo(page, "Watch");
    await page.getByRole("heading", { name: "Watch" }).waitFor();
    await back();
    await page.locator(".command").filter({ hasText: "--probes 6" }).waitFor();
    assert.equal(await shown(page), answer);
  }
});

test("an invalid address shows the initial view", async () => {
  const visitor = await Visitor.come(server.address);
  const page = await visitor.follow("/?lang=xx#plan?find=all&keys=-5&error_rate=2&bits=x&probes=1e9&layout=round");
  await page.locator(".command").filter({ hasText: "--capacity 10000000 --error-rate 0.001" }).waitFor();
  assert.equal(await page.locator("html").getAttribute("lang"), "en");
  await visitor.follow("/#watch/%zz");
  await page.getByRole("heading", { name: "There is no filter “%zz”" }).waitFor();
  await visitor.follow("/#nowhere/at?all");
  await page.locator(".bits").waitFor();
  await visitor.leave();
});

moving("a link leads to the filter in view, whatever its name is, and back to the previous one", async (page) => {
  await goTo(page, "Watch");
  await page.getByRole("heading", { name: "clicks" }).waitFor();
  await page.locator(".listing").getByRole("link", { name: "春" }).click();
  await page.getByRole("heading", { name: "a/b 春" }).waitFor();
  await shared(page, (other) => other.getByRole("heading", { name: "a/b 春" }).waitFor());
  await page.goBack();
  await page.getByRole("heading", { name: "clicks" }).waitFor();
  await page.goForward();
  await page.getByRole("heading", { name: "a/b 春" }).waitFor();
});
