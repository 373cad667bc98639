// Parts of build.mjs.

import { readdir, readFile } from "node:fs/promises";
import path from "node:path";

/** The files of a folder whose names end so. */
export async function filesEndingIn(folder, suffix) {
  const names = await readdir(folder, { recursive: true });
  return names.filter((name) => name.endsWith(suffix)).map((name) => path.join(folder, name));
}

/** The licences of all packages from which something went into the page, as they ask to be passed on. */
export async function licencesOf(inputs) {
  const packages = new Set();
  for (const input of inputs) {
    const found = /node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(input);
    if (found) packages.add(found[1]);
  }
  const texts = [];
  for (const name of [...packages].sort()) {
    const folder = path.join("node_modules", name);
    const { version } = JSON.parse(await readFile(path.join(folder, "package.json"), "utf8"));
    const file = (await readdir(folder)).find((entry) => /^licen[cs]e/i.test(entry));
    if (!file) throw new Error(`${name} has no licence file; the page cannot be given away without it`);
    texts.push(`${name} ${version}\n\n${(await readFile(path.join(folder, file), "utf8")).trim()}\n`);
  }
  return texts.join(`\n${"-".repeat(72)}\n\n`);
}
