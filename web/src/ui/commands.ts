/** Command lines that reach this very server from a shell. */

import { hasToken } from "../api";

/** As one word of a shell. */
export function quoted(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replace(/'/g, `'\\''`)}'`;
}

interface Call {
  method: string;
  /** With its query. */
  path: string;
  /** Of the body, if there is one. */
  type?: string;
  body?: string;
}

/** The visitor replaces PASSWORD: the page does not show what was typed. */
export function curlLine({ method, path, type, body }: Call): string {
  const words = ["curl"];
  if (method !== (body === undefined ? "GET" : "POST")) words.push("-X", method);
  if (hasToken()) words.push("-H", "Authorization: Bearer PASSWORD");
  if (body !== undefined && type) words.push("-H", `Content-Type: ${type}`, body.includes("\n") ? "--data-binary" : "-d", body);
  return [...words, location.origin + path].map(quoted).join(" ");
}

const everyAddress = /^(?:0\.0\.0\.0|\[::\])$/;

/** Without a host, redis-cli asks 127.0.0.1. An address that stands for all is the one by which this page was reached. */
function wordsTo(address: string): string[] {
  if (address.startsWith("unix:")) return ["-s", address.slice("unix:".length)];
  const [, tls, host, port] = /^(tls:)?(.*):(\d+)$/.exec(address) ?? [];
  const name = (everyAddress.test(host) ? location.hostname : host).replace(/^\[|\]$/g, "");
  return [...(tls ? ["--tls"] : []), ...(name === "127.0.0.1" ? [] : ["-h", name]), "-p", port];
}

/** redis-cli with what it needs to reach the server; "" where it does not listen for the Redis protocol. */
export function redisCli(addresses: readonly string[]): string {
  const plainFirst = ["", "tls:", "unix:"];
  const kindOf = (address: string): number => Math.max(0, plainFirst.findIndex((kind) => kind && address.startsWith(kind)));
  const [address] = [...addresses].sort((a, b) => kindOf(a) - kindOf(b));
  if (address === undefined) return "";
  const password = hasToken() ? ["-a", "PASSWORD"] : [];
  return ["redis-cli", ...wordsTo(address), ...password].map(quoted).join(" ");
}
