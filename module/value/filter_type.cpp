#include "module/value/filter_type.hpp"

#include <algorithm>
#include <condition_variable>
#include <csignal>
#include <cstddef>
#include <exception>
#include <limits>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "everseen/core/base/bytes.hpp"
#include "everseen/core/base/error.hpp"
#include "everseen/core/format/chunk_image.hpp"
#include "everseen/core/redisbloom/redisbloom.hpp"
#include "everseen/core/spec/growth.hpp"

#include "module/server/api.hpp"
#include "module/server/settings.hpp"
#include "module/value/filter_chunks.hpp"
#include "module/value/filter_value.hpp"

namespace everseen::redis_module {

namespace {

/// A string of an RDB.
class loaded_bytes {
 public:
  /// @throws format_error  the RDB ends before it
  explicit loaded_bytes(module_api::rdb* from) : bytes_(module_api::load_bytes(from, &size_)) {
    if (bytes_ == nullptr) throw format_error("the data of a filter is cut off");
  }
  loaded_bytes(loaded_bytes&& other) noexcept
      : size_(other.size_), bytes_(std::exchange(other.bytes_, nullptr)) {}
  loaded_bytes& operator=(loaded_bytes&&) = delete;
  ~loaded_bytes() {
    if (bytes_ != nullptr) module_api::free_memory(bytes_);
  }

  /// The caller frees it by free_memory().
  [[nodiscard]] char* release() noexcept { return std::exchange(bytes_, nullptr); }

  [[nodiscard]] std::span<const std::byte> get() const noexcept {
    return std::as_bytes(std::span(bytes_, size_));
  }

 private:
  std::size_t size_ = 0;
  char* bytes_;
};

// RedisBloom's own encoding of a filter in an RDB: its type `MBbloom--`, encodings 2 to 4.
//
// Numbers and strings of the server, in this order: keys, layers, flags, expansion (from encoding 4 on); for
// each layer: capacity, error rate, probes, bits a key, bits, log2 of the bits or 0, the bytes of the bits,
// keys. Source: the files that RedisBloom 2.8 writes.

inline constexpr int redisbloom_encoding = 4;

constexpr int oldest_encoding = 2;
constexpr int first_with_expansion = 4;

std::uint64_t load_number(api::rdb* from) {
  const std::uint64_t number = api::load_unsigned(from);
  if (api::is_rdb_damaged(from) != 0) throw format_error("the data of a filter is cut off");
  return number;
}

/// A number of a smaller type.
template <typename Small>
Small load_small(api::rdb* from) {
  const std::uint64_t number = load_number(from);
  if (number > std::numeric_limits<Small>::max()) throw format_error("a number of a filter is out of bounds");
  return static_cast<Small>(number);
}

double load_decimal(api::rdb* from) {
  const double number = api::load_double(from);
  if (api::is_rdb_damaged(from) != 0) throw format_error("the data of a filter is cut off");
  return number;
}

/// @throws format_error  it is cut off, of another encoding, or not as RedisBloom would have made it
/// @throws parameter_error  beyond what everseen supports
std::unique_ptr<filter_value> load_redisbloom(api::rdb* from, int encoding) {
  if (encoding < oldest_encoding || encoding > redisbloom_encoding)
    throw format_error("encoding " + std::to_string(encoding) + " of RedisBloom's filters is not known");
  redisbloom::announced_chain chain;
  chain.shape.keys = load_number(from);
  const std::uint64_t layers = load_number(from);
  if (layers == 0 || layers > growth::max_layers)
    throw format_error("a filter with an impossible number of layers");
  chain.shape.flags = load_small<std::uint32_t>(from);
  chain.shape.expansion = encoding >= first_with_expansion ? load_small<std::uint32_t>(from) : 2;
  std::vector<server_memory> bits;
  bits.reserve(layers);
  std::uint64_t bytes = 0;
  for (std::uint64_t i = 0; i < layers; ++i) {
    redisbloom::layer_shape l;
    l.capacity = load_number(from);
    l.error_rate = load_decimal(from);
    l.probes = load_small<std::uint32_t>(from);
    l.bits_per_key = load_decimal(from);
    const std::uint64_t bit_count = load_number(from);
    l.log2_bits = load_small<std::uint8_t>(from);
    loaded_bytes loaded(from);
    // Positions are reduced by it: with another number, keys would not be found.
    if (bit_count != 8 * loaded.get().size())
      throw format_error("a layer of " + std::to_string(loaded.get().size()) + " bytes says that it has " +
                         std::to_string(bit_count) + " bits");
    bytes += loaded.get().size();
    must_fit(nullptr, bytes, 0);
    chain.lengths.push_back(loaded.get().size());
    bits.emplace_back(loaded.release());
    l.keys = load_number(from);
    chain.shape.layers.push_back(l);
  }
  // The header of a dump has the same fields, so one decoder checks both.
  const announced_filter announced =
      redisbloom::filter_of(redisbloom::decode_header(redisbloom::encode_header(chain)));
  // The strings of the RDB become the layers: a filter is never in memory twice.
  auto made = std::make_unique<filter_value>(announced, std::move(bits));
  for (std::size_t i = 0; i < announced.segments.size(); ++i)
    reverse_bits_of_bytes(made->bits(i), made->bits(i));
  return made;
}

/// Cost: a copy of one layer at a time.    @pre its layout is RedisBloom's
void save_redisbloom(api::rdb* file, const filter_value& filter) {
  const redisbloom::announced_chain chain = redisbloom::chain_of(filter.get_spec(), filter.state());
  api::save_unsigned(file, chain.shape.keys);
  api::save_unsigned(file, chain.shape.layers.size());
  api::save_unsigned(file, chain.shape.flags);
  api::save_unsigned(file, chain.shape.expansion);
  for (std::size_t i = 0; i < chain.shape.layers.size(); ++i) {
    const redisbloom::layer_shape& l = chain.shape.layers[i];
    api::save_unsigned(file, l.capacity);
    api::save_double(file, l.error_rate);
    api::save_unsigned(file, l.probes);
    api::save_double(file, l.bits_per_key);
    api::save_unsigned(file, 8 * chain.lengths[i]);
    api::save_unsigned(file, l.log2_bits);
    std::vector<std::byte> bits(chain.lengths[i]);
    reverse_bits_of_bytes(filter.bits(i), bits);
    api::save_bytes(file, reinterpret_cast<const char*>(bits.data()), bits.size());
    api::save_unsigned(file, l.keys);
  }
}

struct {
  api::data_type* own = nullptr;
  api::data_type* redisbloom = nullptr;
} types;

constexpr int own_encoding = 1;

/// Of bits in one string of an RDB or one command of an AOF.
constexpr std::uint64_t piece_bytes = std::uint64_t{1} << 20;

filter_value& of(void* value) noexcept {
  return *static_cast<filter_value*>(value);
}
const filter_value& of(const void* value) noexcept {
  return *static_cast<const filter_value*>(value);
}

std::unique_ptr<filter_value> load(api::rdb* from) {
  const loaded_bytes header(from);
  if (!image::is_chunk_header(header.get())) throw format_error("the data of a filter has no header");
  const announced_filter announced = announced_by(header.get());
  must_fit(nullptr, announced.bit_bytes(), announced.bit_bytes());  // before any bit is there
  auto made = std::make_unique<filter_value>(announced);
  std::uint64_t left = made->bit_bytes();
  for (std::int64_t iterator = 1; left > 0;) {
    const loaded_bytes chunk(from);
    const std::size_t size = chunk.get().size();
    iterator += static_cast<std::int64_t>(size - std::min(size, image::chunk_trailer_bytes));
    const std::uint64_t loaded = load_chunk(*made, iterator, chunk.get());
    if (loaded == 0 || loaded > left) throw format_error("the data of a filter has too many chunks");
    left -= loaded;
  }
  return made;
}

/// The chunks of a filter, in order.
template <typename Write>
void for_each_chunk(const filter_value& filter, Write write) {
  const announced_filter all = filter.announced();
  for (std::int64_t iterator = 0;;) {
    const value_chunk each = chunk_after(filter, all, iterator, piece_bytes);
    if (each.iterator == 0) return;
    write(each);
    iterator = each.iterator;
  }
}

const char* text(const std::vector<std::byte>& bytes) noexcept {
  return reinterpret_cast<const char*>(bytes.data());
}

// No exception may reach the server. An RDB that is damaged ends the loading with a message.
template <typename Load>
void* loaded(api::rdb* from, Load load_value) noexcept {
  try {
    return load_value().release();
  } catch (const std::exception& e) {
    end_if_it_lacks_memory(nullptr, e);
    api::log_rdb_error(from, "warning", "a filter cannot be loaded: %s", e.what());
    return nullptr;
  }
}

void* load_rdb(api::rdb* from, int encoding) noexcept {
  return loaded(from, [&] {
    if (encoding != own_encoding) throw format_error("its encoding is not known to this module");
    return load(from);
  });
}

void* load_their_rdb(api::rdb* from, int encoding) noexcept {
  return loaded(from, [&] { return load_redisbloom(from, encoding); });
}

void save_rdb(api::rdb* file, void* value) noexcept {
  for_each_chunk(of(value),
                 [&](const auto& each) { api::save_bytes(file, text(each.bytes), each.bytes.size()); });
}

void save_their_rdb(api::rdb* file, void* value) noexcept {
  save_redisbloom(file, of(value));
}

void rewrite_aof(api::rdb* file, api::string* key, void* value) noexcept {
  for_each_chunk(of(value), [&](const auto& each) {
    api::emit_aof(file, load_command(of(value)), "slb", key, static_cast<long long>(each.iterator),
                  text(each.bytes), each.bytes.size());
  });
}

std::size_t memory(const void* value) noexcept {
  return of(value).memory();
}

void digest_of(api::digest_state* state, void* value) noexcept {
  for_each_chunk(of(value),
                 [&](const auto& each) { api::digest_add(state, text(each.bytes), each.bytes.size()); });
  api::digest_end(state);
}

/// Values that await their end, and the thread that frees them.
class freeing {
 public:
  freeing() {
    // Signals are the server's.
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    try {
      std::thread([this] { run(); }).detach();
    } catch (...) {
      pthread_sigmask(SIG_SETMASK, &before, nullptr);
      throw;
    }
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
  }

  void put(filter_value* filter) {
    const std::scoped_lock alone(lock_);
    waiting_.reserve(waiting_.size() + 1);
    waiting_.emplace_back(filter);
    changed_.notify_one();
  }

 private:
  [[noreturn]] void run() {
    for (;;) {
      std::vector<std::unique_ptr<filter_value>> taken;
      std::unique_lock alone(lock_);
      changed_.wait(alone, [this] { return !waiting_.empty(); });
      taken.swap(waiting_);
      alone.unlock();
    }
  }

  std::mutex lock_{};
  std::condition_variable changed_{};
  std::vector<std::unique_ptr<filter_value>> waiting_{};
};

/// Frees a value in that thread.    @return false: it cannot be started, and the value is still there
bool free_aside(filter_value* filter) noexcept {
  try {
    static freeing& all = *new freeing;  // never destroyed: the thread runs until the process ends
    all.put(filter);
    return true;
  } catch (const std::exception&) {
    return false;
  }
}

/// Returning much memory to the system takes long: DEL and SET would block the server for that time.
void free_value(void* value) noexcept {
  constexpr std::uint64_t much = std::uint64_t{16} << 20;
  auto* const filter = static_cast<filter_value*>(value);
  if (filter->bit_bytes() < much || !free_aside(filter)) delete filter;
}

/// Above 64, the server frees a value in another thread. Returning much memory to the system takes long.
std::size_t free_effort(api::string* /*key*/, const void* value) noexcept {
  constexpr std::uint64_t bytes_a_unit = 1 << 16;
  return of(value).allocations() + static_cast<std::size_t>(of(value).bit_bytes() / bytes_a_unit);
}

void* copy(api::string* /*from*/, api::string* /*to*/, const void* value) noexcept {
  try {
    return new filter_value(of(value));
  } catch (const std::exception& e) {
    end_if_it_lacks_memory(nullptr, e);
    return nullptr;  // the server answers that the key was not copied
  }
}

int defragment(api::defrag_state* state, api::string* /*key*/, void** value) noexcept {
  of(*value).move_with(state);
  return 0;
}

}  // namespace

const char* load_command(const filter_value& filter) noexcept {
  return filter.is_redisbloom() ? "BF.LOADCHUNK" : "EVERSEEN.LOADCHUNK";
}

bool declare_filter_types(api::context* ctx, bool with_redisbloom) {
  api::type_methods methods;
  methods.rdb_load = load_rdb;
  methods.rdb_save = save_rdb;
  methods.aof_rewrite = rewrite_aof;
  methods.mem_usage = memory;
  methods.digest = digest_of;
  methods.free = free_value;
  methods.free_effort = free_effort;
  methods.copy = copy;
  if (api::defragment != nullptr) methods.defrag = defragment;
  api::set_module_options(ctx, api::handle_io_errors);
  types.own = api::create_data_type(ctx, "everseen1", own_encoding, &methods);
  if (types.own == nullptr || !with_redisbloom) return types.own != nullptr;
  methods.rdb_load = load_their_rdb;
  methods.rdb_save = save_their_rdb;
  types.redisbloom = api::create_data_type(ctx, "MBbloom--", redisbloom_encoding, &methods);
  return types.redisbloom != nullptr;
}

filter_value* filter_of(api::key* key) noexcept {
  if (key == nullptr || api::key_type(key) != api::type_module) return nullptr;
  const api::data_type* const type = api::type_of_value(key);
  if (type == nullptr || (type != types.own && type != types.redisbloom)) return nullptr;
  return static_cast<filter_value*>(api::value_of(key));
}

filter_value& put(api::key* key, std::unique_ptr<filter_value> filter) noexcept {
  filter_value* const made = filter.release();
  const bool theirs = made->is_redisbloom();
  (void)api::set_value(key, theirs ? types.redisbloom : types.own, made);
  return *made;
}

}  // namespace everseen::redis_module
