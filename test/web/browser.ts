/** A real browser that notes everything that must not happen: errors, and requests that leave the server. */

import assert from "node:assert/strict";

import { chromium } from "playwright-core";
import type { Browser, Locator, Page } from "playwright-core";

export interface Look {
  language?: "en" | "zh";
  width?: number;
  height?: number;
  dark?: boolean;
  still?: boolean; // prefers-reduced-motion
}

export class Visitor {
  private constructor(
    readonly page: Page,
    private readonly address: string,
    private readonly faults: string[],
  ) {}

  static async come(browser: Browser, address: string, look: Look = {}): Promise<Visitor> {
    const context = await browser.newContext({
      locale: look.language === "zh" ? "zh-CN" : "en-US",
      viewport: { width: look.width ?? 1200, height: look.height ?? 900 },
      colorScheme: look.dark ? "dark" : "light",
      reducedMotion: look.still ? "reduce" : "no-preference",
    });
    const page = await context.newPage();
    // Long, for machines that have much else to do: nothing waits that long where all is well.
    page.setDefaultTimeout(60000);
    const faults: string[] = [];
    page.on("pageerror", (error) => faults.push(error.message));
    page.on("console", (message) => {
      // A browser says itself that a request failed, whether or not the page expects it.
      if (message.type() === "error" && !/Failed to load resource/.test(message.text())) faults.push(message.text());
    });
    page.on("request", (request) => {
      if (!request.url().startsWith(address)) faults.push(`asked ${request.url()}`);
    });
    return new Visitor(page, address, faults);
  }

  async open(name: "learn" | "plan" | "watch"): Promise<Page> {
    await this.page.goto(`${this.address}/#${name}`);
    await this.page.locator("main h1").waitFor();
    await this.page.evaluate(() => document.fonts.ready.then(() => undefined)); // its letters have their final width
    return this.page;
  }

  async leave(): Promise<void> {
    await this.page.context().close();
    assert.deepEqual(this.faults, []);
  }
}

/** Each quantity has a slider and a field by the same name. */
export const slider = (within: Page | Locator, name: string): Locator => within.getByRole("slider", { name, exact: true });
export const field = (within: Page | Locator, name: string): Locator => within.getByRole("textbox", { name, exact: true });

export async function launch(): Promise<Browser> {
  const executablePath = process.env.EVERSEEN_CHROMIUM;
  if (!executablePath) throw new Error("EVERSEEN_CHROMIUM must name Chromium; ./dev setup installs it, ctest finds it");
  // Its sandbox needs rights that containers seldom give; it only ever sees our own page.
  return chromium.launch({ executablePath, args: ["--no-sandbox"] });
}
