<?php
// Looks up and adds keys as PHP programs do, beside others: php shared_peer.php KIND NAME BITS PROBES KEYS SOCKET...
//
// KIND is bkdr, uid or sharded; KEYS a file with a key in base64 a line. Prints 1 for each key that was there, else 0.

error_reporting(E_ALL & ~E_DEPRECATED);  // PHP 8.1 deprecates conversions that lose bits, which are the point here

[, $kind, $name, $bits, $probes, $file] = $argv;
$servers = [];
foreach (array_slice($argv, 6) as $socket) {
    $servers[] = $server = new Redis();
    $server->connect($socket);
}
$partitions = $bits > 4294967296 ? (int) ceil(ceil($bits / count($servers)) / 4294967296) : 1;

function positions(string $kind, string $key, int $bits, int $probes): array {
    $positions = [];
    if ($kind === 'uid') {
        foreach ([7, 11, 13, 17, 19, 23, 29] as $seed) {
            $hash = 0;
            for ($i = 0; $i < strlen($key); $i++) $hash = $seed * $hash + ord($key[$i]);
            $positions[] = $hash & 0x3FFFFFF;
        }
        return $positions;
    }
    for ($probe = 0; $probe < $probes; $probe++) {
        $seed = $probe === 0 ? 31 : (int) substr('13131313131313131313', 0, $probe + 2);
        $hash = 0;
        for ($i = 0; $i < strlen($key); $i++) {
            $hash = ((floatval($hash * $seed) & 0x7FFFFFFF) + ord($key[$i])) & 0x7FFFFFFF;
        }
        $positions[] = $hash % $bits;
    }
    return $positions;
}

foreach (file($file, FILE_IGNORE_NEW_LINES) as $line) {
    $key = base64_decode($line);
    $crc = crc32($key);
    $server = $servers[$crc % count($servers)];
    $string = $kind === 'sharded' ? $name . '.' . $crc % $partitions : $name;
    $pipeline = $server->multi(Redis::PIPELINE);
    foreach (positions($kind, $key, $bits, $probes) as $position) $pipeline->setBit($string, $position, true);
    echo in_array(0, $pipeline->exec(), true) ? '0' : '1';
}
