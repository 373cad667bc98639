#include "everseen/text/json.hpp"

template class nlohmann::detail::serializer<nlohmann::json>;
template class nlohmann::detail::serializer<nlohmann::ordered_json>;
template nlohmann::json nlohmann::json::parse<const char*>(const char*, const char*,
                                                           nlohmann::json::parser_callback_t, bool, bool);
