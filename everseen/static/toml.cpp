// toml++ in its header, which a library of the system has compiled for the other program.

#define TOML_HEADER_ONLY 0
#define TOML_IMPLEMENTATION
#include <toml++/toml.h>
