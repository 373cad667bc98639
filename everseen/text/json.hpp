#pragma once

#include <nlohmann/json.hpp>

/// JSON for people and programs to read, its members in the order in which they were set.
///
/// What is dear to compile of the library is compiled once, in json.cpp, instead of in each file that
/// includes this.
extern template class nlohmann::detail::serializer<nlohmann::json>;
extern template class nlohmann::detail::serializer<nlohmann::ordered_json>;
// The library's literals use this one, so that every file would compile a parser of its own.
extern template nlohmann::json nlohmann::json::parse<const char*>(const char*, const char*,
                                                                  nlohmann::json::parser_callback_t, bool,
                                                                  bool);
