// Builds the page, or bundles tests so that node can run them.
//
// usage: node build.mjs [--out DIRECTORY]     the files as a browser gets them
//        node build.mjs --tests FROM TO       FROM/*_test.ts as TO/unit.mjs, and those that need a browser as TO/integration.mjs
//
// Scripts, styles and fonts get a hash of their content into their names, so that browsers may keep them for ever.
// index.html is asked for each time and names them. docs.html is the same at /docs, under another title.

import { filesEndingIn, licencesOf } from "./build_parts.mjs";
import * as esbuild from "esbuild";
import { copyFile, mkdir, readFile, rm, writeFile } from "node:fs/promises";
import path from "node:path";

async function buildPage(out) {
  await rm(out, { recursive: true, force: true });
  await mkdir(out, { recursive: true });
  const result = await esbuild.build({
    entryPoints: { page: "src/main.tsx" },
    outdir: out,
    entryNames: "[name]-[hash]",
    assetNames: "[name]-[hash]",
    bundle: true,
    minify: true,
    format: "esm",
    target: ["es2021", "chrome111", "firefox113", "safari16.4"],
    jsx: "automatic",
    jsxImportSource: "preact",
    loader: { ".woff2": "file" },
    legalComments: "none",
    metafile: true,
    logLevel: "warning",
  });
  const files = Object.keys(result.metafile.outputs).map((file) => path.basename(file));
  const named = (suffix) => `/${files.find((file) => file.startsWith("page-") && file.endsWith(suffix))}`;
  const html = await readFile("src/index.html", "utf8");
  for (const [name, title] of [["index", "everseen"], ["docs", "API · everseen"]]) {
    const filled = { "%STYLE%": named(".css"), "%SCRIPT%": named(".js"), "%TITLE%": title };
    await writeFile(
      path.join(out, `${name}.html`),
      html.replace(/%[A-Z]+%/g, (gap) => filled[gap]).replace(/\n\s*/g, "\n"),
    );
  }
  await copyFile("src/favicon.svg", path.join(out, "favicon.svg"));
  await writeFile(path.join(out, "licences.txt"), await licencesOf(Object.keys(result.metafile.inputs)));
}

/** All tests of a kind are one program, so that they share a browser. */
async function buildTests(from, out) {
  await rm(out, { recursive: true, force: true });
  const files = (await filesEndingIn(from, "_test.ts")).sort();
  const needBrowser = (file) => file.endsWith("_integration_test.ts");
  await bundleTests(files.filter(needBrowser), path.join(out, "integration.mjs"));
  await bundleTests(files.filter((file) => !needBrowser(file)), path.join(out, "unit.mjs"));
}

async function bundleTests(files, outfile) {
  const contents = files.map((file) => `import ${JSON.stringify(path.resolve(file))};`).join("\n");
  await esbuild.build({
    stdin: { contents, resolveDir: "." },
    outfile,
    bundle: true,
    platform: "node",
    alias: { page: path.resolve("src") },
    external: ["playwright-core", "axe-core"],
    format: "esm",
    target: "node18",
    jsx: "automatic",
    jsxImportSource: "preact",
    logLevel: "warning",
  });
}

const [word, directory, more] = process.argv.slice(2);
if (word === "--tests" && more) await buildTests(directory, more);
else if (word === undefined || (word === "--out" && directory)) await buildPage(directory ?? "dist");
else {
  console.error("usage: node build.mjs [--out DIRECTORY] | --tests FROM TO");
  process.exit(2);
}
