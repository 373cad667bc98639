#include <cstddef>

#include "everseen/cli/program/program.hpp"

int main(int argc, char** argv) {
  return everseen::cli::run_program({argv, static_cast<std::size_t>(argc)});
}
