<?php
/**
 * A filter in PHP, by FFI over libeverseen.so: no extension to build. In memory, in files, or on Redis.
 *
 *     require 'Filter.php';
 *     $seen = Everseen\Filter::openOrCreate('redis://localhost', 'visitors', 1_000_000);
 *     if ($seen->add($visitor)) count_visitor($visitor);
 *     $verdicts = $seen->addMany(['a', 'b', 'a']);   // [true, true, false]
 *
 * A filter that PHP programs keep in Redis by setbit(), as with phpredis, can be used together with them once it has a name:
 * beside_phpredis.php. In a web server, set ffi.enable=true in php.ini; the command line needs nothing.
 */
declare(strict_types=1);

namespace Everseen;

final class Error extends \RuntimeException {}

final class Filter
{
    private const FRESH = 0;
    private const SEEN = 1;
    private const LATE = 2;

    private static ?\FFI $library = null;

    private function __construct(private ?\FFI\CData $filter) {}

    /**
     * Opens the filter of this name, or creates it. An existing filter must have this $capacity and $errorRate; 0
     * means the default for a new filter, and any value for an existing one.
     */
    public static function openOrCreate(string $url, string $name, int $capacity = 0, float $errorRate = 0.0): self
    {
        $library = self::library();
        $options = $library->new('everseen_options');
        $options->size = \FFI::sizeof($options);
        $options->capacity = $capacity;
        $options->error_rate = $errorRate;
        $opened = $library->new('everseen_filter*');
        self::check($library->everseen_open_or_create($url, $name, \FFI::addr($options), \FFI::addr($opened)));
        return new self($opened);
    }

    /** Opens a filter that exists; it may be another program's (everseen attach). */
    public static function open(string $url, string $name): self
    {
        $library = self::library();
        $opened = $library->new('everseen_filter*');
        self::check($library->everseen_open($url, $name, \FFI::addr($opened)));
        return new self($opened);
    }

    /** Adds a key. true: it was certainly not added before, by any process. */
    public function add(string $key): bool
    {
        return $this->addMany([$key])[0];
    }

    /** Whether a key was probably added before. false is certain. */
    public function contains(string $key): bool
    {
        return $this->judge([$key], 'everseen_check_offsets64')[0] === self::SEEN;
    }

    /**
     * @param string[] $keys  @return bool[] whether each was fresh
     * @throws Error  also if a filter with a window has moved beyond this clock, and so neither judges nor adds
     */
    public function addMany(array $keys): array
    {
        $verdicts = $this->judge($keys, 'everseen_add_offsets64');
        if (in_array(self::LATE, $verdicts, true)) throw new Error('a key is older than the window of the filter');
        return array_map(fn(int $verdict) => $verdict === self::FRESH, $verdicts);
    }

    public function close(): void
    {
        if ($this->filter !== null) self::library()->everseen_close($this->filter);
        $this->filter = null;
    }

    public function __destruct()
    {
        $this->close();
    }

    /** @return int[] a verdict for each key */
    private function judge(array $keys, string $function): array
    {
        if ($this->filter === null) throw new Error('the filter is closed');
        $library = self::library();
        $count = count($keys);
        if ($count === 0) return [];
        $bytes = implode('', $keys);
        $ends = [0];
        foreach ($keys as $key) $ends[] = end($ends) + strlen((string) $key);
        $offsets = $library->new('int64_t[' . ($count + 1) . ']');
        \FFI::memcpy($offsets, pack('q*', ...$ends), 8 * ($count + 1));
        $verdicts = $library->new("uint8_t[$count]");
        self::check($library->$function($this->filter, $bytes, $offsets, $count, null, 0, $verdicts));
        return array_values(unpack('C*', \FFI::string($verdicts, $count)));
    }

    private static function check(int $status): void
    {
        if ($status !== 0) throw new Error(self::library()->everseen_last_error(), $status);
    }

    /**
     * What is used of everseen.h. It stays valid for this library's number: functions are only added, and `size` says
     * how many of the options are known here. EVERSEEN_LIBRARY names a library where the system does not look.
     */
    private static function library(): \FFI
    {
        return self::$library ??= \FFI::cdef(<<<'C'
            typedef struct everseen_filter everseen_filter;
            typedef struct { size_t size; uint64_t capacity; double error_rate; } everseen_options;
            int everseen_open(const char* url, const char* name, everseen_filter** filter);
            int everseen_open_or_create(const char* url, const char* name, const everseen_options* options,
                                        everseen_filter** filter);
            void everseen_close(everseen_filter* filter);
            int everseen_add_offsets64(everseen_filter* filter, const void* bytes, const int64_t* offsets, size_t count,
                                       const int64_t* times, size_t times_count, uint8_t* verdicts);
            int everseen_check_offsets64(const everseen_filter* filter, const void* bytes, const int64_t* offsets,
                                         size_t count, const int64_t* times, size_t times_count, uint8_t* verdicts);
            const char* everseen_last_error(void);
            C, getenv('EVERSEEN_LIBRARY') ?: 'libeverseen.so.0');
    }
}
