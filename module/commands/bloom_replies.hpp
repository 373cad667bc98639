#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "everseen/core/base/verdict.hpp"
#include "everseen/core/commands/figures.hpp"

#include "module/value/filter_value.hpp"

/// Verdicts and properties as RedisBloom replies with them, and figures as `everseen serve` does.
namespace everseen::redis_module {

enum class answer_shape : std::uint8_t {
  one,    ///< true or false
  array,  ///< true or false for each key
};

/// True for a fresh key; an error for a key without a verdict, for which the filter has no room.
int reply_with_added(api::context* ctx, std::span<const verdict> verdicts, growth_kind growth,
                     answer_shape shape);
/// What a key without a verdict gets.
[[nodiscard]] const char* text_without_room(growth_kind growth) noexcept;
/// True for a key that was seen.
int reply_with_found(api::context* ctx, std::span<const verdict> verdicts, answer_shape shape);

/// The reply of BF.INFO: all properties, or the one that a word names.    @throws bad_word  it names none
int reply_with_info(api::context* ctx, const filter_value& filter);
int reply_with_info(api::context* ctx, const filter_value& filter, std::string_view word);

/// The reply of EVERSEEN.INFO.
int reply_with_figures(api::context* ctx, std::span<const commands::figure> figures);

/// The reply of BF.DEBUG: a line for the filter, and one for each layer.
int reply_with_layers(api::context* ctx, const filter_value& filter);

}  // namespace everseen::redis_module
