#include "everseen/cli/verb/foreign_words.hpp"

#include <algorithm>
#include <array>
#include <cstddef>

namespace everseen::cli {

namespace {

constexpr auto verbs = std::to_array<foreign_verb>({
    {"delete remove del rm erase srem zrem hdel forget discard evict revoke",
     "no key can be deleted from a Bloom filter, as other keys share its bits. 'everseen rebuild' keeps the "
     "keys that it is given and forgets the others, 'everseen create --window' forgets keys after a time, "
     "and 'everseen drop' deletes a whole filter"},
    {"union combine join concat sunion pfmerge bitop",
     "'everseen merge' adds the keys of filters that have one secret seed, as 'everseen create --like' makes "
     "them; without that, 'everseen link' lets one filter ask another first"},
    {"intersect intersection sinter diff difference sdiff subtract minus compare",
     "filters cannot be compared or intersected, as each hashes with a seed of its own. 'everseen check' "
     "says of "
     "each key that it is given whether a filter has it"},
    {"count counter incr",
     "'everseen dedup --count' counts lines, 'everseen stream --count' counts events and 'everseen counts' "
     "prints these counts; 'everseen info' says how many keys a filter has"},
    {"keys members smembers items enumerate iterate scan sscan filters dbsize",
     "a filter has no list of its keys, only their bits. 'everseen list' shows the filters of a store"},
    {"insert put push append set setbit setnx madd sadd pfadd", "'everseen add' adds keys"},
    {"update", "'everseen add' adds keys, and 'everseen rebuild' replaces all keys of a filter"},
    {"get getbit mget query lookup find search grep has contains member exist exists ismember sismember "
     "smismember mexists test is",
     "'everseen check' asks whether keys were added"},
    {"ls dir", "'everseen list' shows the filters of a store"},
    {"new make init reserve touch mkdir", "'everseen create' makes a filter"},
    {"mv move",
     "'everseen rename' gives a filter another name; 'everseen export' and 'everseen import' move it to "
     "another store"},
    {"uniq uniqify unique distinct dedupe deduplicate awk",
     "'everseen dedup' prints each line the first time it occurs"},
    {"sort",
     "everseen does not sort: 'everseen dedup' prints each line the first time it occurs, in the order of "
     "the input"},
    {"show stat stats status describe inspect card cardinality scard pfcount len length strlen memory "
     "object type",
     "'everseen info' shows how many keys a filter has, and its size"},
    {"size estimate calculate calculator calc",
     "'everseen plan' says what a filter for a number of keys would take, and 'everseen info' what one "
     "takes"},
    {"grow resize shrink extend expand enlarge compact optimize",
     "a filter grows by itself; 'everseen rebuild --capacity' makes it of another size, from its keys"},
    {"clear empty truncate wipe purge flush flushdb flushall",
     "'everseen reset' removes all keys of one filter, and 'everseen drop' deletes one"},
    {"backup save bgsave dump scandump snapshot copy cp clone duplicate",
     "'everseen export' writes a filter as a file, and 'everseen import' makes a filter of it, under any "
     "name"},
    {"restore load loadchunk", "'everseen import' makes a filter from a file"},
    {"convert upgrade transform",
     "'everseen migrate' makes a filter from the keys of another one; 'everseen import' reads files of Guava "
     "and RedisBloom"},
    {"detach unlink",
     "'everseen link --off' removes a link to an older filter. 'everseen drop' removes the name of an "
     "attached filter, whose bits stay, and deletes any other filter"},
    {"start run daemon server listen web ui dashboard http",
     "'everseen serve' serves filters to clients of Redis, and with --http over HTTP, with a page"},
    {"monitor watch metrics",
     "'everseen top' shows live what the filters of a store do; 'everseen serve --http' has a page, and "
     "metrics for "
     "Prometheus"},
    {"stop kill shutdown restart quit exit",
     "a running 'everseen serve' ends by SIGTERM, or by the command SHUTDOWN of a Redis client"},
    {"config configure configuration settings",
     "every verb takes EVERSEEN_STORE; 'everseen serve --config' and 'everseen stream --config' read options "
     "from a file"},
    {"expire expireat pexpire persist ttl pttl",
     "'everseen create --window' forgets keys after a time, and 'everseen create --expire' deletes the whole "
     "filter"},
    {"consume consumer subscribe ingest pipe kafka tail xread xreadgroup",
     "'everseen stream' reads events from files, Kafka and Redis streams"},
    {"ps groups offsets lag", "'everseen jobs' lists the jobs of a filter"},
    {"benchmark", "'everseen bench' measures what a key costs"},
    {"generate sample samples random", "'everseen gen' makes samples"},
    {"user users acl auth login passwd password",
     "'everseen serve --user' and 'everseen serve --user-file' name users and their rights; a password of a "
     "server is a part of the URL of 'everseen list --store'"},
    {"ping", "'everseen list' fails if its store cannot be reached"},
    {"version about", "'everseen --version' shows the version"},
    {"usage commands", "'everseen --help' lists the verbs"},
    {"why debug",
     "'everseen explain' shows every bit of one key, and 'everseen info' the layers of a filter"},
    {"cf cms topk tdigest",
     "of the sketches of Redis there are only Bloom filters, which neither count keys nor delete them; "
     "'everseen --help' lists the verbs"},
});

constexpr auto options = std::to_array<foreign_option>({
    // uniq
    {"dedup", "-D --all-repeated", "--repeated prints all occurrences of a line but the first"},
    {"dedup", "--unique --uniq --distinct",
     "each line is printed once without any option, as by sort -u; --unrepeated prints those that occur "
     "once, as "
     "uniq -u does"},
    {"dedup", "--group",
     "lines stay in the order of the input, so they cannot be grouped; --count counts them"},
    {"dedup",
     "-b --case-insensitive --ignore-leading-blanks --lower --lowercase --strip --strip-blanks --normalize",
     "--ignore-case, --fold-case and --trim say which letters and blanks of a key do not count"},
    // sort
    {"dedup",
     "-n -g -r -M -R --numeric-sort --general-numeric-sort --human-numeric-sort --month-sort --random-sort "
     "--version-sort --reverse --sort --sorted --dictionary-order --ignore-nonprinting --random-source "
     "--stable --unordered",
     "dedup does not sort: lines stay in the order of the input, and sort may follow in the pipeline"},
    {"dedup", "-C --check",
     "whether lines occur twice is in --stats, as the number of those that are seen; 'everseen check' asks a "
     "filter and changes nothing"},
    {"dedup", "-m --merge", "several files are read one after the other, as one"},
    {"dedup", "-S --buffer-size --memory --mem --batch-size",
     "the memory follows from --capacity and --error-rate; 'everseen plan' shows it"},
    {"dedup", "-T --temporary-directory --tmp --tmpdir --compress-program",
     "no temporary files are written: the filter is in memory, or in a store with --filter"},
    {"dedup", "--files0-from --files-from", "let xargs pass the names, as in xargs -0 everseen dedup < LIST"},
    {"dedup", "--in-place --inplace", "--output FILE may name the file that is read"},
    {"dedup", "--append", "let the shell append, as in everseen dedup FILE >> ALL"},
    {"dedup", "--keep-last --last --newest --latest --keep-first --first",
     "the first of equal lines is printed, and with --keep last the last"},
    {"dedup", "--invert --inverse --invert-match",
     "--repeated prints the repeats instead of the first occurrences"},
    {"dedup", "--exact",
     "a filter is never exact, but --error-rate may be as low as 1e-12; --count keeps the lines themselves, "
     "and is exact"},
    {"dedup", "--dry-run",
     "without --filter nothing is remembered; 'everseen check' asks a filter and changes nothing"},
    {"dedup", "--debug", "'everseen explain' shows why a key is fresh or seen"},
    {"dedup", "--input --file --infile", "the files to read are arguments, without an option"},
    // awk, cut, miller, pandas
    {"--delimiter", "-F --field-separator --separator --sep --fs --delim --ifs",
     "the character between fields is --delimiter, or -t"},
    {"--delimiter", "--field --fields --column --columns --col --cols --by --on --subset --id --key-fields",
     "--key names a field by its number, by its name (with --header) or as a JSON pointer"},
    {"--delimiter", "--tsv", "fields are cut at tabs unless --delimiter or --csv is given"},
    {"--delimiter", "--json --jsonl --ndjson", "--key takes a JSON pointer, as in --key /user/id"},
    {"--header", "--headers --has-header --with-header --skip-header --no-header",
     "--header says that the first line names the fields; without it, that line is a record"},
    {"--zero", "-Z --zero-terminated --null-data --nul --print0 --files0",
     "records that end with NUL are --zero, or -z"},
    // everseen's own, in other verbs
    {"stream", "-o --output --out", "--to says where fresh events go"},
    {"stream", "--repeated --seen", "--seen-to appends repeats to a file"},
    {"stream", "--late", "late events are counted, and --late-to appends them to a file"},
    {"stream", "--missing-key", "--bad-events decides about records without a key"},
    {"stream", "--threads --parallel --workers",
     "several workers of one job share its source: give each a --worker NAME"},
    {"stream", "--file --input", "--from FILE reads a file"},
    // Kafka's programs
    {"stream",
     "-b --bootstrap-server --bootstrap-servers --broker --brokers --broker-list --topic --topics --group "
     "--group-id --consumer-group -G --offset --from-beginning --consumer.config --stream",
     "the source is a URL, as in --from 'kafka://HOST:PORT/TOPIC?group=GROUP&start=earliest', or "
     "redis-stream:STREAM"},
    // redis-server
    {"serve", "-p --port --bind --host --address --addr --unixsocket --tls-port -s",
     "--listen ADDRESS:PORT, tls:ADDRESS:PORT or unix:PATH is where Redis clients connect, and --http for "
     "HTTP"},
    {"serve", "-a --requirepass --pass --auth --aclfile --users",
     "--password is for all clients, --user NAME:PASSWORD:RIGHT for one"},
    {"serve",
     "--appendonly --appendfsync --save --dir --dbfilename --persist --persistence --data --databases",
     "--store says where filters are, as in file:DIRECTORY?sync=always"},
    {"serve", "-d --daemon --daemonize --background --detach",
     "it stays in the foreground; let systemd or the shell's & put it into the background"},
    {"serve", "--protected-mode",
     "without a password it listens on this machine only, unless --open-to-strangers"},
    {"serve", "--maxclients --clients", "--max-connections limits the clients"},
    {"serve", "--loglevel -v --verbose --debug", "--log-level debug writes all messages"},
    {"serve", "--logfile --log --log-file",
     "messages go to standard error; --log-format and --log-level choose them"},
    {"serve", "--loadmodule", "it has the BF. commands without a module"},
    {"serve", "--timeout",
     "--idle-timeout is for clients; for servers of the store it is a part of the URL of --store, as in "
     "redis://HOST?timeout=2s"},
    {"serve", "--io-threads --workers",
     "--threads is for connections, --store-threads for disks and servers"},
    {"serve", "--capacity --error-rate --initial-size",
     "a filter gets its capacity and error rate from 'everseen create', BF.RESERVE or HTTP; the first BF.ADD "
     "takes the defaults"},
    // Libraries of Bloom filters
    {"--error-rate",
     "-e -p --error --fpp --fpr --fp --fp-rate --rate --false-positive-rate --false-positives "
     "--false-probability --probability --prob --accuracy",
     "the share of new keys that may be taken for repeats is --error-rate, as in --error-rate 1e-6"},
    {"--capacity", "--bits --bytes --size-in-bits --m",
     "the size follows from the number of keys and the error rate; 'everseen plan --bytes' says what fits "
     "into a size"},
    {"--capacity",
     "-n --n --keys --items --size --count --max --elements --entries --insertions --expected-insertions "
     "--max-keys --initial-size",
     "the number of different keys is --capacity"},
    {"--probes", "--hashes --hash-functions --num-hashes --number-of-hashes -k --k",
     "how many bits a key sets follows from the error rate; --probes sets it, for the classic layout"},
    {"--capacity", "--hashes --hash-functions --num-hashes --number-of-hashes --k --probes",
     "how many bits a key sets follows from the error rate"},
    {"--growth", "--nonscaling --non-scaling --no-grow --fixed --scalable --scaling --auto-grow",
     "--growth says what happens when the capacity is reached: grow, refuse or overfill"},
    {"--hash", "--seed", "each filter has a random seed of its own, which it keeps"},
    {"--window",
     "--ttl --expiry --expiration --expire --since --within --interval --age --max-age --forget-after",
     "--window forgets keys after a time, as in --window 10m; 'everseen create --expire' deletes a whole "
     "filter after one"},
    {"--existing", "--nocreate --no-create --must-exist", "--existing requires that the filter exists"},
    {"add", "--nocreate --no-create --existing", "add creates no filter; 'everseen create' does"},
    {"--yes", "-f --force --no-confirm --assume-yes", "--yes asks no question"},
    {"import", "-i -f --file --input", "the file to read is the second argument, without an option"},
    {"--replace", "-f --force --overwrite", "--replace replaces the filter that has this name"},
    {"NAME", "--filter --name", "the name of the filter is the first argument, without an option"},
    {"KEY", "-f -i --file --input --keys --from-file",
     "keys are arguments, or the lines of standard input: < FILE"},
    {"export", "-f --file", "--output FILE writes to a file"},
    {"list", "-l -a --long --all --verbose", "'everseen info' shows more about one filter"},
    {"--json", "--format --csv --yaml", "--json prints JSON"},
    // redis-cli
    {"--store",
     "-p -a -u -n --host --hostname --port --pass --password --user --url --uri --redis --db --socket --tls "
     "--cluster --server --endpoint --connect",
     "--store URL says where filters are, as in redis://HOST:PORT; 'everseen --help' lists the forms"},
    {"--store", "--dir --directory --path --data --data-dir --database",
     "--store file:DIRECTORY keeps filters in a directory"},
    {"--store",
     "--sync --fsync --durable --retry --retries --retry-for --connect-timeout --prefix --cacert --cert --ca "
     "--replicas --sni",
     "this is a part of the URL of --store, as in redis://HOST?retry_for=30s or file:DIRECTORY?sync=always; "
     "'everseen --help' lists them"},
    // Every program
    {"--quiet", "-s --silent --no-progress", "--quiet, or -q, prints no notes"},
    {"--output", "-O --out --outfile --output-file --to-file", "--output FILE, or -o, writes to a file"},
    {"--threads", "-j -P --jobs --parallel --workers --processes --concurrency",
     "--threads says how many threads to use"},
    {"--help", "-V --version", "'everseen --version' shows the version"},
    {"--help", "-? -help --usage --man", "--help shows all options, 'everseen man' a manual page"},
});

bool contains_word(std::string_view words, std::string_view word) {
  while (!words.empty()) {
    const std::size_t end = std::min(words.find(' '), words.size());
    if (words.substr(0, end) == word) return true;
    words.remove_prefix(std::min(end + 1, words.size()));
  }
  return false;
}

}  // namespace

std::span<const foreign_verb> foreign_verbs() {
  return verbs;
}

std::span<const foreign_option> foreign_options() {
  return options;
}

std::string verb_spelling(std::string_view word) {
  std::string name(word);
  for (char& c : name)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  const std::size_t dot = name.find('.');
  if (dot == std::string::npos) return name;
  // Of the commands of other types, such as CF.DEL, the type says enough.
  const std::string type = name.substr(0, dot);
  return type == "bf" || type == "everseen" ? name.substr(dot + 1) : type;
}

std::string_view about_foreign_verb(std::string_view word) {
  const std::string name = verb_spelling(word);
  const auto found = std::ranges::find_if(verbs, [&](const auto& v) { return contains_word(v.words, name); });
  return found == verbs.end() ? std::string_view() : found->sentence;
}

std::string_view about_foreign_option(std::string_view typed, std::span<const std::string_view> known) {
  const auto found = std::ranges::find_if(options, [&](const foreign_option& o) {
    return contains_word(o.words, typed) && std::ranges::find(known, o.place) != known.end();
  });
  return found == options.end() ? std::string_view() : found->sentence;
}

}  // namespace everseen::cli
