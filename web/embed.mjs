// Writes the files of the page as a C++ source, for everseen/serve/api/page.hpp.
//
// usage: node embed.mjs DIRECTORY SOURCE.cpp
//
// What becomes clearly smaller by gzip is there twice, so that whoever takes no gzip is served as well.

import { createHash } from "node:crypto";
import { readdir, readFile, writeFile } from "node:fs/promises";
import path from "node:path";
import { gzipSync } from "node:zlib";

const contentTypes = {
  ".css": "text/css; charset=utf-8",
  ".html": "text/html; charset=utf-8",
  ".js": "text/javascript; charset=utf-8",
  ".svg": "image/svg+xml",
  ".txt": "text/plain; charset=utf-8",
  ".woff2": "font/woff2",
};

const forEver = "public, max-age=31536000, immutable";
const askEachTime = "no-cache";

/** Octal escapes of three digits end by themselves, whatever follows. */
function literal(bytes) {
  const lines = [];
  for (let at = 0; at < bytes.length; at += 64) {
    const escapes = [...bytes.subarray(at, at + 64)].map((byte) => `\\${byte.toString(8).padStart(3, "0")}`);
    lines.push(`    "${escapes.join("")}"`);
  }
  return lines.join("\n") || '    ""';
}

/** Where a browser asks for it. */
function pathOf(name) {
  if (name === "index.html") return "/";
  return name === "docs.html" ? "/docs" : `/${name}`;
}

function entry(name, bytes) {
  const contentType = contentTypes[path.extname(name)];
  if (!contentType) throw new Error(`${name}: no content type is known for such a file; name it in embed.mjs`);
  const tag = createHash("sha256").update(bytes).digest("hex").slice(0, 20);
  const zipped = gzipSync(bytes, { level: 9 });
  const gzip = zipped.length < bytes.length * 0.9 ? zipped : Buffer.alloc(0);
  const hashed = /-[A-Z0-9]{8}\.\w+$/.test(name);
  return `  {"${pathOf(name)}", "${contentType}", "W/\\"${tag}\\"",
   "${hashed ? forEver : askEachTime}",
   {
${literal(bytes)}, ${bytes.length}},
   {
${literal(gzip)}, ${gzip.length}}},
`;
}

const [directory, source] = process.argv.slice(2);
const names = (await readdir(directory)).sort();
const entries = await Promise.all(names.map(async (name) => entry(name, await readFile(path.join(directory, name)))));
await writeFile(
  source,
  `// Written by web/embed.mjs from the files of the page.
#include "everseen/serve/api/page.hpp"

namespace everseen::serve {

static constexpr asset embedded[] = {
${entries.join("")}};

std::span<const asset> assets() noexcept {
  return embedded;
}

}  // namespace everseen::serve
`,
);
