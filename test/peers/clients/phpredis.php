<?php
// The Bloom commands by phpredis, which knows them only as words, on a server at PORT: php phpredis.php PORT
$client = new Redis();
$client->connect('127.0.0.1', (int) $argv[1]);
$bf = fn(string $command, ...$words) => $client->rawCommand("BF.$command", ...$words);
$truths = fn(...$numbers) => implode(' ', array_map(fn($each) => $each === 1 ? 'true' : 'false', $numbers));

echo 'reserve: ', $bf('RESERVE', 'visitors', 0.001, 1000) === true ? 'OK' : 'no', "\n";
$bf('RESERVE', 'visitors', 0.001, 1000);
echo 'again: ', str_contains($client->getLastError(), 'item exists') ? 'true' : 'false', "\n";
$both = $client->multi()->rawCommand('BF.ADD', 'visitors', 'alice')->rawCommand('BF.ADD', 'visitors', 'alice')->exec();
echo 'add: ', $truths(...$both), "\n";
echo 'madd: ', $truths(...$bf('MADD', 'visitors', 'bob', 'alice', 'carol')), "\n";
$found = $client->pipeline()->rawCommand('BF.EXISTS', 'visitors', 'bob')->rawCommand('BF.EXISTS', 'visitors', 'nobody')->exec();
echo 'exists: ', $truths(...$found), "\n";
echo 'mexists: ', $truths(...$bf('MEXISTS', 'visitors', 'carol', 'nobody')), "\n";
echo 'insert: ', $truths(...$bf('INSERT', 'urls', 'CAPACITY', 500, 'ERROR', 0.01, 'ITEMS', 'a', 'b', 'a')), "\n";
$info = $bf('INFO', 'visitors');
echo "info: $info[1] $info[5] $info[7] $info[9]\n";
echo 'card: ', $bf('CARD', 'visitors'), "\n";
for ($at = $bf('SCANDUMP', 'visitors', 0); $at[0] !== 0; $at = $bf('SCANDUMP', 'visitors', $at[0])) $bf('LOADCHUNK', 'copy', ...$at);
echo 'copy: ', $truths($bf('EXISTS', 'copy', 'alice'), $bf('EXISTS', 'copy', 'nobody')), "\n";
