/** Code that the tests of Watch share. */

import { test } from "node:test";

import type { Locator, Page } from "playwright-core";

import { Visitor } from "../support/browser";
import type { Look } from "../support/browser";
import { Serving } from "../support/serving";

type Body = (page: Page, server: Serving, visitor: Visitor) => Promise<void>;

interface Circumstances {
  flags?: string[];
  look?: Look;
}

/** A test with a private server and the page Watch open. */
export function watching(name: string, body: Body, { flags = [], look = {} }: Circumstances = {}): void {
  test(name, async () => {
    const server = await Serving.start(flags);
    try {
      const visitor = await Visitor.come(server.address, look);
      await body(await visitor.open("watch"), server, visitor);
      await visitor.leave();
    } finally {
      await server.stop();
    }
  });
}

/** A figure of the filter in view. */
export const figure = (page: Page, name: string): Locator => page.locator(`[data-figure="${name}"] dd`).first();

export async function shows(page: Page, name: string, value: string): Promise<void> {
  await figure(page, name).filter({ hasText: value }).waitFor();
}
