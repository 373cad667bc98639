// The Bloom commands by ioredis, which knows them only as words, on a server at PORT: node ioredis.mjs PORT
import { Redis } from 'ioredis';

const client = new Redis(Number(process.argv[2]));
const truths = (numbers) => [numbers].flat().map((each) => each === 1);

console.log('reserve:', await client.call('BF.RESERVE', 'visitors', 0.001, 1000));
console.log('again:', await client.call('BF.RESERVE', 'visitors', 0.001, 1000).catch((e) => e.message.includes('item exists')));
const both = await client.multi().call('BF.ADD', 'visitors', 'alice').call('BF.ADD', 'visitors', 'alice').exec();
console.log('add:', ...truths(both.map(([, answer]) => answer)));
console.log('madd:', ...truths(await client.call('BF.MADD', 'visitors', 'bob', 'alice', 'carol')));
const found = await client.pipeline().call('BF.EXISTS', 'visitors', 'bob').call('BF.EXISTS', 'visitors', 'nobody').exec();
console.log('exists:', ...truths(found.map(([, answer]) => answer)));
console.log('mexists:', ...truths(await client.call('BF.MEXISTS', 'visitors', 'carol', 'nobody')));
console.log('insert:', ...truths(await client.call('BF.INSERT', 'urls', 'CAPACITY', 500, 'ERROR', 0.01, 'ITEMS', 'a', 'b', 'a')));
const info = await client.call('BF.INFO', 'visitors');
console.log('info:', info[1], info[5], info[7], info[9]);
console.log('card:', await client.call('BF.CARD', 'visitors'));
for (let at = await client.callBuffer('BF.SCANDUMP', 'visitors', 0); at[0] !== 0;
     at = await client.callBuffer('BF.SCANDUMP', 'visitors', at[0]))
  await client.call('BF.LOADCHUNK', 'copy', at[0], at[1]);
console.log('copy:', ...truths([await client.call('BF.EXISTS', 'copy', 'alice'), await client.call('BF.EXISTS', 'copy', 'nobody')]));
await client.quit();
