/**
 * A real browser that records everything that must not happen: errors, and requests to other servers.
 *
 * One browser serves all tests, and a page that a test has left serves the next: starting either costs far more than
 * loading the page. A page is left empty; if a test failed and did not leave its page, that page is not used again.
 */

import assert from "node:assert/strict";
import { after, afterEach } from "node:test";

import { chromium } from "playwright-core";
import type { Browser, Locator, Page } from "playwright-core";

export interface Look {
  language?: "en" | "zh";
  width?: number;
  height?: number;
  dark?: boolean;
  moving?: boolean; // without it, prefers-reduced-motion: each frame of an animation costs as much as a test
}

interface Window {
  page: Page;
  faults: string[];
  address: string;
  limit?: NodeJS.Timeout;
}

/** In ms, and long, for busy machines: nothing waits that long in a successful run. */
const longestWait = 300000;
/** Of a page by one test, since not everything that is asked of a page has a limit of its own. */
const longestVisit = 2 * longestWait;

let browser: Promise<Browser> | undefined;
const left = { en: [] as Window[], zh: [] as Window[] };
const visited = new Set<Window>();

afterEach(describeWhatWasNotLeft);
after(async () => (await browser)?.close());

/** What a failed test saw when it failed. */
async function describeWhatWasNotLeft(): Promise<void> {
  for (const window of visited) {
    clearTimeout(window.limit);
    console.log(`ERROR: a test did not leave its page: ${await described(window)}`);
  }
  visited.clear();
}

/** A page may be there no more, or answer nothing. */
async function described({ page, faults }: Window): Promise<string> {
  const silence = new Promise((resolve) => setTimeout(() => resolve("it does not answer"), 5000).unref());
  const shown = page.evaluate(() => ({
    hidden: document.hidden,
    text: document.body.innerText.replace(/\s+/g, " ").slice(0, 2000),
  }));
  return JSON.stringify({ url: page.url(), faults, shown: await Promise.race([shown.catch(String), silence]) });
}

/** Whatever a test waits for on its page fails then. */
async function end(window: Window): Promise<void> {
  console.log(`ERROR: a test has not left its page within ${longestVisit / 1000} s: ${await described(window)}`);
  await window.page.context().close();
}

async function openWindow(language: "en" | "zh"): Promise<Window> {
  browser ??= launch();
  const context = await (await browser).newContext({ locale: language === "zh" ? "zh-CN" : "en-US" });
  const page = await context.newPage();
  page.setDefaultTimeout(longestWait);
  const window: Window = { page, faults: [], address: "" };
  page.on("pageerror", (error) => window.faults.push(error.message));
  page.on("console", (message) => {
    // The browser itself logs a failed request, whether or not the page expects it. And if a page is left immediately,
    // it logs that the empty page after it (of no origin) gets no icon.
    const isExpected = /Failed to load resource|favicon\.svg' from origin 'null'/.test(message.text());
    if (message.type() === "error" && !isExpected) window.faults.push(message.text());
  });
  page.on("request", (request) => {
    const url = request.url();
    if (url !== "about:blank" && !url.startsWith(window.address)) window.faults.push(`asked ${url}`);
  });
  return window;
}

export class Visitor {
  private constructor(
    private readonly window: Window,
    private readonly language: "en" | "zh",
  ) {}

  static async come(address: string, look: Look = {}): Promise<Visitor> {
    const language = look.language ?? "en";
    const window = left[language].pop() ?? (await openWindow(language));
    window.faults.length = 0;
    window.address = address;
    window.limit = setTimeout(() => void end(window), longestVisit);
    visited.add(window);
    const visitor = new Visitor(window, language);
    await visitor.change(look);
    return visitor;
  }

  get page(): Page {
    return this.window.page;
  }

  /** Another look, except the language, at the open page. Returns after the layout has followed the width. */
  async change(look: Look): Promise<void> {
    await this.page.setViewportSize({ width: look.width ?? 1200, height: look.height ?? 900 });
    await this.page.emulateMedia({
      colorScheme: look.dark ? "dark" : "light",
      reducedMotion: look.moving ? "no-preference" : "reduce",
    });
    if (this.page.url() === "about:blank") return;
    await this.page.evaluate(() => new Promise((drawn) => requestAnimationFrame(() => requestAnimationFrame(drawn))));
  }

  async open(name: "learn" | "plan" | "watch" | "docs"): Promise<Page> {
    return this.follow(name === "docs" ? "/docs" : `/#${name}`);
  }

  /** Opens a link to the server. */
  async follow(path: string): Promise<Page> {
    await this.page.goto(this.window.address + path);
    await this.page.locator("main h1").waitFor();
    await this.page.evaluate(() => document.fonts.ready.then(() => undefined)); // its letters have their final width
    return this.page;
  }

  async leave(): Promise<void> {
    await this.page.unrouteAll({ behavior: "ignoreErrors" });
    await this.page.context().clearPermissions();
    await this.page.evaluate(() => {
      localStorage.clear();
      sessionStorage.clear();
    });
    await this.page.goto("about:blank");
    clearTimeout(this.window.limit);
    visited.delete(this.window);
    assert.deepEqual(this.window.faults, []);
    left[this.language].push(this.window);
  }
}

/** Each quantity has a slider and a field by the same name. */
export const slider = (within: Page | Locator, name: string): Locator => within.getByRole("slider", { name, exact: true });
export const field = (within: Page | Locator, name: string): Locator => within.getByRole("textbox", { name, exact: true });

function launch(): Promise<Browser> {
  const executablePath = process.env.EVERSEEN_CHROMIUM;
  if (!executablePath) throw new Error("EVERSEEN_CHROMIUM must name Chromium; ./dev setup installs it, ctest finds it");
  // Its sandbox needs rights that containers rarely grant; it only ever sees our own page.
  return chromium.launch({ executablePath, args: ["--no-sandbox"], timeout: longestWait });
}
