/** Ports for servers that a test starts. */

import { once } from "node:events";
import { createServer } from "node:net";

/**
 * A port without a listener, below those that the system assigns to clients: any client on this machine could take one
 * of those between the end of one server and the start of the next on its port.
 */
export async function freePort(): Promise<number> {
  const [first, last] = [15_000, 32_000];
  for (;;) {
    const port = first + Math.floor(Math.random() * (last - first));
    const probe = createServer().listen(port, "127.0.0.1");
    try {
      await once(probe, "listening");
    } catch {
      continue; // a server listens there
    }
    probe.close();
    await once(probe, "close");
    return port;
  }
}
