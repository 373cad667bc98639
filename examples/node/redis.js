// Prints for each argument whether it is new, with node-redis.
//   everseen serve --listen unix:/tmp/s &
//   cd examples/node && npm ci && node redis.js /tmp/s alice bob alice
import { createClient } from "redis";

const [socket, ...visitors] = process.argv.slice(2);
const filters = await createClient({ socket: { path: socket } }).connect();
const isNew = await filters.bf.mAdd("visitors", visitors);
visitors.forEach((visitor, i) => console.log(visitor, isNew[i] ? "is new" : "was here before"));
await filters.quit();
