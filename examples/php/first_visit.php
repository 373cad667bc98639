<?php
/* Prints for each argument whether it is new.
 *
 * sudo apt-get install php-cli redis-server
 * php examples/php/first_visit.php redis://localhost alice bob alice
 */
declare(strict_types=1);

require __DIR__ . '/Filter.php';

[, $url] = $argv;
$visitors = array_slice($argv, 2);
$seen = Everseen\Filter::openOrCreate($url, 'visitors');
foreach ($seen->addMany($visitors) as $i => $isNew) {
    echo $visitors[$i], $isNew ? ' is new' : ' was here before', "\n";
}
