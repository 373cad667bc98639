// Prints for each argument whether it is new, with ioredis.
//   everseen serve --listen unix:/tmp/s &
//   cd examples/node && npm ci && node ioredis.js /tmp/s alice bob alice
import { Redis } from "ioredis";

const [socket, ...visitors] = process.argv.slice(2);
const filters = new Redis(socket);
const isNew = await filters.call("BF.MADD", "visitors", ...visitors);
visitors.forEach((visitor, i) => console.log(visitor, isNew[i] ? "is new" : "was here before"));
await filters.quit();
