import assert from "node:assert/strict";
import { after, before, test } from "node:test";

import axe from "axe-core";
import type { Page } from "playwright-core";

import { slider, Visitor } from "./support/browser";
import { printed, Serving } from "./support/serving";

let server: Serving;

before(async () => {
  server = await Serving.start();
  await server.cli("BF.RESERVE", "clicks", "0.01", "100");
  await server.add("clicks", "key", 500);
});
after(async () => {
  await server?.stop();
});

const pages = ["learn", "plan", "watch", "docs"] as const;

/** The page with something in all its parts. */
async function filled(visitor: Visitor, name: (typeof pages)[number]): Promise<Page> {
  const page = await visitor.open(name);
  if (name === "learn") {
    for (const word of ["bloom", "lamp", "seen"]) {
      await page.fill("#add-word", word);
      await page.press("#add-word", "Enter");
    }
    await page.fill("#ask-word", "bloom");
  } else if (name === "plan") {
    await page.locator(".plan-table").waitFor();
  } else if (name === "docs") {
    await page.locator("#no_filter").waitFor();
    await page.locator(".operation summary").first().click();
  } else {
    await page.locator(".segments .layers li").first().waitFor();
    await page.fill("#explain-key", "key 1");
    await page.press("#explain-key", "Enter");
    await page.locator(".explained").first().waitFor();
  }
  return page;
}

interface Violation {
  rule: string;
  where: string[];
}

const standards = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"];

/** The findings of axe by these rules, or by those of all standards. */
async function violations(page: Page, rules?: string[]): Promise<Violation[]> {
  return page.evaluate(
    async (runOnly) => {
      const found = await (window as unknown as { axe: typeof axe }).axe.run(document, { runOnly, resultTypes: ["violations"] });
      return found.violations.map((each) => ({
        rule: `${each.id}: ${each.help}`,
        where: each.nodes.slice(0, 4).map((node) => `${node.target.join(" ")} ${node.any[0]?.message ?? ""}`),
      }));
    },
    rules ?? standards,
  );
}

/** The rules of axe about colours. */
const onColors = axe
  .getRules(standards)
  .filter(({ tags }) => tags.includes("cat.color") && !tags.includes("experimental"))
  .map(({ ruleId }) => ruleId);

// A theme changes only colours, so in the dark only the rules on colours can have another result.
for (const name of pages)
  for (const language of ["en", "zh"] as const)
    test(`${name} has no accessibility fault that axe knows, wide or narrow, light or dark (${language})`, async () => {
      const visitor = await Visitor.come(server.address, { language });
      const page = await filled(visitor, name);
      await page.evaluate(axe.source);
      for (const width of [1200, 360])
        for (const dark of [false, true]) {
          await visitor.change({ width, dark });
          assert.deepEqual(await violations(page, dark ? onColors : undefined), [], `${width} pixels, dark: ${dark}`);
        }
      await visitor.leave();
    });

const widths = { en: [320, 360, 768], zh: [360, 1920] } as const;

for (const name of pages)
  for (const language of ["en", "zh"] as const)
    test(`${name} fits widths of ${widths[language].join(", ")} pixels (${language})`, async () => {
      const visitor = await Visitor.come(server.address, { language, width: widths[language][0] });
      const page = await filled(visitor, name);
      for (const width of widths[language]) {
        await visitor.change({ width });
        const overhang = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
        assert.ok(overhang <= 0, `${overhang} pixels too wide for ${width}`);
        assert.deepEqual(await page.evaluate(cutWords), [], `${width} pixels`);
      }
      await visitor.leave();
    });

/** Buttons, headings and figures whose words do not fit into them. Runs in the page. */
function cutWords(): string[] {
  const parts = document.querySelectorAll<HTMLElement>("button, h1, h2, h3, dt, dd, th, .big, .quantity input:not([type=range])");
  return [...parts]
    .filter((part) => part.scrollWidth > part.clientWidth + 1 && getComputedStyle(part).display !== "inline")
    .map((part) => `${part.tagName} ${part.textContent || (part as HTMLInputElement).value}`);
}

test("every page can be reached and used by keyboard alone", async () => {
  const visitor = await Visitor.come(server.address, { moving: true });
  const page = await visitor.open("learn");
  const focused = (): Promise<string> => page.evaluate(() => document.activeElement?.textContent?.trim() ?? "");
  await page.keyboard.press("Tab");
  assert.equal(await focused(), "To the content");
  for (let i = 0; i < 3; ++i) await page.keyboard.press("Tab");
  assert.equal(await focused(), "Plan");
  await page.keyboard.press("Enter");
  // The heading gets the focus once it exists, a moment after the page appears.
  await page.locator("h1:focus", { hasText: "Plan a filter" }).waitFor();
  // The four quantities to find are one stop.
  for (let i = 0; i < 2; ++i) await page.keyboard.press("Tab");
  const keys = slider(page, "Number of different keys n");
  const moved = async (key: string): Promise<boolean> => {
    const before = await keys.inputValue();
    await page.keyboard.press(key);
    return (await keys.inputValue()) !== before;
  };
  assert.ok(await moved("ArrowUp"), "the field does not step");
  await page.keyboard.press("Tab");
  assert.ok(await moved("ArrowRight"), "the slider does not move");
  await visitor.leave();
});

test("every slider announces its value in words", async () => {
  const visitor = await Visitor.come(server.address);
  for (const name of pages.slice(0, 2)) {
    const page = await visitor.open(name);
    const sliders = await page.getByRole("slider").all();
    assert.ok(sliders.length > 3);
    for (const slider of sliders) assert.ok(await slider.getAttribute("aria-valuetext"));
  }
  await visitor.leave();
});

test("nothing moves for users who request reduced motion", async () => {
  const visitor = await Visitor.come(server.address);
  const page = await filled(visitor, "learn");
  assert.equal(await page.evaluate(() => document.getAnimations().length), 0);
  await visitor.leave();
});

test("the page loads nothing from outside, and browsers cache immutable files", async () => {
  const head = await printed("curl", ["-sSfI", `${server.address}/`]);
  assert.match(head, /content-security-policy: default-src 'self'/i);
  assert.match(head, /cache-control: no-cache/i);
  const html = await printed("curl", ["-sSf", `${server.address}/`]);
  const script = /src="([^"]+)"/.exec(html)![1];
  const ofScript = await printed("curl", ["-sSfI", "--compressed", `${server.address}${script}`]);
  assert.match(ofScript, /immutable/);
  assert.match(ofScript, /content-encoding: gzip/i);
  const tag = /etag: (\S+)/i.exec(ofScript)![1];
  const again = ["-sS", "-o", "/dev/null", "-w", "%{http_code}", "-H", `If-None-Match: ${tag}`];
  assert.equal(await printed("curl", [...again, `${server.address}${script}`]), "304");
});

test("names the licences of everything in the page", async () => {
  const licences = await printed("curl", ["-sSf", `${server.address}/licences.txt`]);
  for (const name of ["preact", "uplot", "atkinson-hyperlegible"]) assert.match(licences, new RegExp(name));
});

test("clients without gzip get the same bytes", async () => {
  const plain = await printed("curl", ["-sSf", "-H", "Accept-Encoding: identity", `${server.address}/`]);
  assert.equal(await printed("curl", ["-sSf", "--compressed", `${server.address}/`]), plain);
  const refusing = ["-sSfI", "-H", "Accept-Encoding: gzip;q=0, identity", `${server.address}/`];
  assert.doesNotMatch(await printed("curl", refusing), /content-encoding/i);
});
