#pragma once

#include "module/server/api.hpp"

/// The commands for people at redis-cli, and for clients in other languages: plain keys; the filter is given
/// by prefix and name, or by the state of one partition. Examples: doc/module.md.
///
/// With a window, the time of a key is the server's clock. A key that could not be judged has an error in its
/// place of the reply.
namespace everseen::redis_module {

/// EVERSEEN.ADDKEYS filter key [key ...]: for each key 1 if it was fresh, 0 if it was probably added before
int add_keys(module_api::context* ctx, module_api::string** words, int count);

/// EVERSEEN.CHECKKEYS filter key [key ...]: for each key 1 if it was probably added, 0 if it certainly was
/// not
int check_keys(module_api::context* ctx, module_api::string** words, int count);

/// EVERSEEN.INFO filter: its spec and its fill, field by field
int show_info(module_api::context* ctx, module_api::string** words, int count);

/// EVERSEEN.EXPLAIN filter key: the bits of the key in each segment, and whether they are set
int explain(module_api::context* ctx, module_api::string** words, int count);

}  // namespace everseen::redis_module
