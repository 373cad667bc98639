// Tells of each argument whether it comes for the first time. Needs `everseen serve`, and ioredis: npm ci.
import { Redis } from "ioredis";

const [socket, ...visitors] = process.argv.slice(2);
const filters = new Redis(socket);
const isNew = await filters.call("BF.MADD", "visitors", ...visitors);
visitors.forEach((visitor, i) => console.log(visitor, isNew[i] ? "is new" : "was here before"));
await filters.quit();
