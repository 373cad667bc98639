<?php
// Fills filters in Redis as PHP programs do: php php_peer.php SOCKET KEYS BITS PROBES INSTANCES
//
// KEYS is a file with a key in base64 a line. The strings it creates: `bkdr` and `uid`, one each; and for a filter
// spread over that many instances INSTANCE:sharded.PARTITION, each sized for the number of partitions.

error_reporting(E_ALL & ~E_DEPRECATED);  // PHP 8.1 deprecates conversions that lose bits, which are the point here

function seed(int $probe): int {
    return $probe === 0 ? 31 : (int) substr('13131313131313131313', 0, $probe + 2);
}

function bkdr(string $key, int $seed): int {
    $hash = 0;
    for ($i = 0; $i < strlen($key); $i++) {
        $hash = ((floatval($hash * $seed) & 0x7FFFFFFF) + ord($key[$i])) & 0x7FFFFFFF;
    }
    return $hash;
}

function uid(string $key, int $seed): int {
    $hash = 0;
    for ($i = 0; $i < strlen($key); $i++) {
        $hash = $seed * $hash + ord($key[$i]);
    }
    return $hash & 0x3FFFFFF;
}

[, $socket, $file, $bits, $probes, $instances] = $argv;
$shardedBits = 50000000000;
$partitions = (int) ceil(ceil($shardedBits / $instances) / 4294967296);

$redis = new Redis();
$redis->connect($socket);
foreach (file($file, FILE_IGNORE_NEW_LINES) as $line) {
    $key = base64_decode($line);
    $pipeline = $redis->multi(Redis::PIPELINE);
    $crc = crc32($key);
    $shard = $crc % $instances . ':sharded.' . $crc % $partitions;
    for ($probe = 0; $probe < $probes; $probe++) {
        $hash = bkdr($key, seed($probe));
        $pipeline->setBit('bkdr', $hash % $bits, true);
        // Only the place of the string matters, so its bits are kept few.
        $pipeline->setBit($shard, $hash % $shardedBits % $bits, true);
    }
    foreach ([7, 11, 13, 17, 19, 23, 29] as $seed) {
        $pipeline->setBit('uid', uid($key, $seed), true);
    }
    $pipeline->exec();
}
