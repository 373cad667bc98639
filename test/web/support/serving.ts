/** A real `everseen serve` for a test, on free ports. */

import { execFile, spawn } from "node:child_process";
import type { ChildProcess } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { promisify } from "node:util";

import { freePort } from "./free_port";

const run = promisify(execFile);

function required(name: string): string {
  const value = process.env[name];
  if (!value) throw new Error(`${name} must name a program; ctest sets it`);
  return value;
}

export const program = required("EVERSEEN_PROGRAM");

/** The output of a program. */
export async function printed(file: string, args: readonly string[]): Promise<string> {
  return (await run(file, [...args])).stdout.trim();
}

export class Serving {
  private constructor(
    private readonly child: ChildProcess,
    private readonly directory: string,
    /** http://127.0.0.1:PORT */
    readonly address: string,
  ) {}

  /** @param more  further flags    @param port  0 selects a free one    @param store  where filters live */
  static async start(more: readonly string[] = [], port = 0, store = "mem:"): Promise<Serving> {
    const directory = await mkdtemp(path.join(tmpdir(), "everseen-page-"));
    const flags = ["--store", store, "--listen", `unix:${directory}/s`, "--http", `127.0.0.1:${port || (await freePort())}`];
    const child = spawn(program, ["serve", ...flags, ...more], { stdio: ["ignore", "pipe", "pipe"] });
    const address = await listening(child);
    return new Serving(child, directory, address);
  }

  get port(): number {
    return Number(new URL(this.address).port);
  }

  /** The output of redis-cli for a command. */
  cli(...words: string[]): Promise<string> {
    return printed("redis-cli", ["-e", "-s", `${this.directory}/s`, ...words]);
  }

  /** Many commands through one redis-cli: starting one costs as much as hundreds of commands. */
  async cliAll(commands: readonly string[]): Promise<void> {
    const running = run("redis-cli", ["-e", "-s", `${this.directory}/s`]);
    running.child.stdin!.end(commands.join("\n"));
    await running;
  }

  /** Adds keys named prefix 0, prefix 1, … in one command. */
  async add(filter: string, prefix: string, count: number): Promise<void> {
    await this.cli("BF.MADD", filter, ...Array.from({ length: count }, (_, i) => `${prefix} ${i}`));
  }

  async stop(): Promise<void> {
    const ended = new Promise((resolve) => this.child.once("exit", resolve));
    if (this.child.exitCode === null && this.child.kill()) await ended;
    await rm(this.directory, { recursive: true, force: true });
  }
}

function listening(child: ChildProcess): Promise<string> {
  return new Promise((resolve, reject) => {
    let out = "";
    let errors = "";
    child.stdout!.on("data", (chunk) => {
      out += chunk;
      const found = /listening for HTTP on (\S+)\n/.exec(out);
      if (found) resolve(`http://${found[1]}`);
    });
    child.stderr!.on("data", (chunk) => (errors += chunk));
    child.once("error", reject);
    child.once("exit", () => reject(new Error(`everseen serve ended before it listened: ${errors}`)));
  });
}
