#pragma once

#include <nlohmann/json.hpp>

/// JSON with members in the order in which they were set.
///
/// The parts of the library that are slow to compile are compiled once, in json.cpp, not in each file that
/// includes this.
extern template class nlohmann::detail::serializer<nlohmann::json>;
extern template class nlohmann::detail::serializer<nlohmann::ordered_json>;
// The library's literals use this instantiation; otherwise every file would compile its own parser.
extern template nlohmann::json nlohmann::json::parse<const char*>(const char*, const char*,
                                                                  nlohmann::json::parser_callback_t, bool,
                                                                  bool);
