#pragma once

#include "module/api.hpp"

/// The commands of people at redis-cli, and of clients in other languages: keys as they are, by the name of
/// the filter behind the prefix, or of one partition's state. doc/module.md shows each.
///
/// In a window the time of a key is the server's clock. A key that could not be judged is answered by an
/// error in its place.
namespace everseen::redis_module {

/// EVERSEEN.ADDKEYS filter key [key ...]: for each key 1 if it was fresh, 0 if it was probably added before
int add_keys(module_api::context* ctx, module_api::string** words, int count);

/// EVERSEEN.CHECKKEYS filter key [key ...]: for each key 1 if it was probably added, 0 if it certainly was
/// not
int check_keys(module_api::context* ctx, module_api::string** words, int count);

/// EVERSEEN.INFO filter: what it was made with, and how full it is, field by field
int show_info(module_api::context* ctx, module_api::string** words, int count);

/// EVERSEEN.EXPLAIN filter key: which bits of which segments are the key's, and whether they are set
int explain(module_api::context* ctx, module_api::string** words, int count);

}  // namespace everseen::redis_module
