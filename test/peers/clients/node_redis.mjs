// The Bloom commands by node-redis, on a server at PORT: node node_redis.mjs PORT
import { commandOptions, createClient } from 'redis';

const client = await createClient({ socket: { port: Number(process.argv[2]) } }).connect();
const bf = client.bf;
const buffers = commandOptions({ returnBuffers: true });

console.log('reserve:', await bf.reserve('visitors', 0.001, 1000));
console.log('again:', await bf.reserve('visitors', 0.001, 1000).catch((e) => e.message.includes('item exists')));
console.log('add:', await bf.add('visitors', 'alice'), await bf.add('visitors', 'alice'));
console.log('madd:', ...(await bf.mAdd('visitors', ['bob', 'alice', 'carol'])));
console.log('exists:', await bf.exists('visitors', 'bob'), await bf.exists('visitors', 'nobody'));
console.log('mexists:', ...(await bf.mExists('visitors', ['carol', 'nobody'])));
console.log('insert:', ...(await bf.insert('urls', ['a', 'b', 'a'], { CAPACITY: 500, ERROR: 0.01 })));
const info = await bf.info('visitors');
console.log('info:', info.capacity, info.numberOfFilters, info.numberOfInsertedItems, info.expansionRate);
console.log('card:', await bf.card('visitors'));
for (let at = await client.bf.scanDump(buffers, 'visitors', 0); at.iterator !== 0;
     at = await client.bf.scanDump(buffers, 'visitors', at.iterator))
  await bf.loadChunk('copy', at.iterator, at.chunk);
console.log('copy:', await bf.exists('copy', 'alice'), await bf.exists('copy', 'nobody'));
await client.quit();
