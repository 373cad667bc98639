/** A private redis-server that keeps nothing. */

import { spawn } from "node:child_process";
import type { ChildProcess } from "node:child_process";
import { once } from "node:events";

import { freePort } from "./free_port";

export class RedisServer {
  private constructor(
    private readonly child: ChildProcess,
    readonly port: number,
  ) {}

  static async start(): Promise<RedisServer> {
    const port = await freePort();
    const flags = ["--port", String(port), "--bind", "127.0.0.1", "--save", "", "--dir", "/tmp"];
    const child = spawn("redis-server", flags, { stdio: ["ignore", "pipe", "ignore"] });
    await new Promise<void>((resolve, reject) => {
      let said = "";
      child.stdout!.on("data", (chunk) => {
        said += chunk;
        if (said.includes("Ready to accept connections")) resolve();
      });
      child.once("error", reject);
      child.once("exit", () => reject(new Error(`redis-server ended: ${said}`)));
    });
    return new RedisServer(child, port);
  }

  async stop(): Promise<void> {
    const ended = once(this.child, "exit");
    this.child.kill();
    await ended;
  }
}
