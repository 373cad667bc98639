<?php
/* A filter that a PHP program keeps in Redis with phpredis, used by everseen as well: each sees the keys that
 * the other adds, so programs can move to batches one by one.
 *
 * sudo apt-get install php-cli php-redis redis-server
 * everseen attach members --as bkdr-php --bits 10000000 --probes 6 --key members:bits --create --store redis://localhost
 * php examples/php/beside_phpredis.php redis://localhost alice bob
 */
declare(strict_types=1);

require __DIR__ . '/Filter.php';

/** The old program: a command for each bit. */
final class OldFilter
{
    private const SEEDS = [31, 131, 1313, 13131, 131313, 1313131];

    public function __construct(private Redis $redis, private string $key, private int $bits) {}

    public function add(string $word): void
    {
        foreach (self::SEEDS as $seed) $this->redis->setBit($this->key, $this->hash($word, $seed) % $this->bits, true);
    }

    public function contains(string $word): bool
    {
        foreach (self::SEEDS as $seed) {
            if ($this->redis->getBit($this->key, $this->hash($word, $seed) % $this->bits) === 0) return false;
        }
        return true;
    }

    private function hash(string $word, int $seed): int
    {
        $hash = 0;
        foreach (str_split($word) as $byte) {
            $hash = (((int) floatval($hash * $seed) & 0x7FFFFFFF) + ord($byte)) & 0x7FFFFFFF;
        }
        return $hash;
    }
}

[, $url, $byOld, $byEverseen] = $argv;
$redis = new Redis();
$at = parse_url($url);
isset($at['host']) ? $redis->connect($at['host'], $at['port'] ?? 6379) : $redis->connect($at['path']);
$old = new OldFilter($redis, 'members:bits', 10_000_000);
$everseen = Everseen\Filter::open($url, 'members');

$old->add($byOld);
echo "$byOld, added by phpredis: ", $everseen->contains($byOld) ? 'seen' : 'not seen', " by everseen\n";
$isNew = $everseen->addMany([$byOld, $byEverseen]);
echo "everseen adds both: $byOld ", $isNew[0] ? 'is new' : 'was there', ", $byEverseen ", $isNew[1] ? 'is new' : 'was there', "\n";
echo "$byEverseen, added by everseen: ", $old->contains($byEverseen) ? 'seen' : 'not seen', " by phpredis\n";
