#pragma once

#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>

/// The part of Kafka's protocol that the tests use: numbers are big-endian, strings and arrays carry their
/// length. "Flexible" versions of a request write lengths as variable integers, and end each structure with
/// tags.
namespace everseen::test::kafka_wire {

/// Parses a message from front to back.    Throws std::runtime_error if it ends too early.
class reader {
 public:
  explicit reader(std::string_view all, bool flexible = false) : all_(all), flexible_(flexible) {}

  template <typename Int>
  Int number() {
    std::uint64_t value = 0;
    for (const char c : bytes(sizeof(Int))) value = value << 8 | static_cast<std::uint8_t>(c);
    return static_cast<Int>(value);
  }
  std::int16_t int16() { return number<std::int16_t>(); }
  std::int32_t int32() { return number<std::int32_t>(); }
  std::int64_t int64() { return number<std::int64_t>(); }

  std::uint64_t varuint() {
    std::uint64_t value = 0;
    for (int shift = 0; shift < 64; shift += 7) {
      const auto byte = number<std::uint8_t>();
      value |= static_cast<std::uint64_t>(byte & 0x7F) << shift;
      if (byte < 0x80) return value;
    }
    throw std::runtime_error("Kafka: a number without an end");
  }
  /// In zigzag encoding, as in the fields of a record.
  std::int64_t varint() {
    const std::uint64_t value = varuint();
    return static_cast<std::int64_t>(value >> 1) ^ -static_cast<std::int64_t>(value & 1);
  }

  /// Null becomes an empty string.
  std::string_view string() {
    const std::int64_t length = flexible_ ? static_cast<std::int64_t>(varuint()) - 1 : int16();
    return length < 0 ? std::string_view() : bytes(static_cast<std::size_t>(length));
  }
  std::string_view sized_bytes() {
    const std::int64_t length = flexible_ ? static_cast<std::int64_t>(varuint()) - 1 : int32();
    return length < 0 ? std::string_view() : bytes(static_cast<std::size_t>(length));
  }
  std::string_view bytes(std::size_t count) {
    if (count > all_.size() - at_) throw std::runtime_error("Kafka: a message that is too short");
    at_ += count;
    return all_.substr(at_ - count, count);
  }
  void tags() {
    if (!flexible_) return;
    for (std::uint64_t left = varuint(); left > 0; --left) {
      varuint();
      bytes(varuint());
    }
  }

  /// Calls `each` for every element of an array; `each` reads it.
  template <typename Each>
  void array(Each each) {
    const std::int64_t count = flexible_ ? static_cast<std::int64_t>(varuint()) - 1 : int32();
    for (std::int64_t i = 0; i < count; ++i) each();
  }

  void be_flexible(bool yes) noexcept { flexible_ = yes; }
  [[nodiscard]] std::size_t at() const noexcept { return at_; }
  [[nodiscard]] bool is_done() const noexcept { return at_ == all_.size(); }

 private:
  std::string_view all_;
  std::size_t at_ = 0;
  bool flexible_;
};

/// Overwrites a number in a message.
template <typename Int>
void overwrite(std::string& message, std::size_t at, Int value) {
  for (std::size_t i = sizeof(Int); i-- > 0; value = static_cast<Int>(static_cast<std::uint64_t>(value) >> 8))
    message.at(at + i) = static_cast<char>(static_cast<std::uint64_t>(value) & 0xFF);
}

/// Builds a message.
class writer {
 public:
  explicit writer(bool flexible = false) : flexible_(flexible) {}

  template <typename Int>
  writer& number(Int value) {
    all_.append(sizeof(Int), '\0');
    overwrite(all_, all_.size() - sizeof(Int), value);
    return *this;
  }
  writer& int16(std::int16_t value) { return number(value); }
  writer& int32(std::int32_t value) { return number(value); }
  writer& int64(std::int64_t value) { return number(value); }
  writer& varuint(std::uint64_t value) {
    for (; value >= 0x80; value >>= 7) all_ += static_cast<char>(value | 0x80);
    all_ += static_cast<char>(value);
    return *this;
  }
  writer& string(std::string_view text) {
    flexible_ ? varuint(text.size() + 1) : int16(static_cast<std::int16_t>(text.size()));
    all_ += text;
    return *this;
  }
  writer& length(std::size_t count) {
    return flexible_ ? varuint(count + 1) : int32(static_cast<std::int32_t>(count));
  }
  writer& tags() { return flexible_ ? varuint(0) : *this; }

  [[nodiscard]] const std::string& text() const noexcept { return all_; }

 private:
  std::string all_{};
  bool flexible_;
};

/// A message with its length in front.
inline std::string framed(std::string_view message) {
  return writer().int32(static_cast<std::int32_t>(message.size())).text() + std::string(message);
}

/// The relevant requests, as the protocol numbers them.
enum class api : std::int16_t {
  produce = 0,
  metadata = 3,
  offset_commit = 8,
  offset_fetch = 9,
  find_coordinator = 10,
  join_group = 11,
  leave_group = 13,
  sync_group = 14,
  api_versions = 18,
  init_producer = 22,
  add_partitions = 24,
  add_offsets = 25,
  end_transaction = 26,
  transaction_offsets = 28,
};

/// Error codes of brokers.
enum class error : std::int16_t {
  none = 0,
  illegal_generation = 22,
  unknown_member = 25,
  rebalance_in_progress = 27,
  out_of_order_sequence = 45,
  invalid_producer_epoch = 47,
  invalid_transaction_state = 48,
  unknown_producer = 49,
  unsupported_compression = 76,
  unstable_offsets = 88,
  producer_fenced = 90,
};

}  // namespace everseen::test::kafka_wire
