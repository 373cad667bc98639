#include "everseen/serve/registry/refusals.hpp"

#include <cerrno>
#include <exception>
#include <new>

namespace everseen::serve {

namespace {

constexpr std::string_view out_of_memory = "OOM command not allowed when used memory > 'maxmemory'.";

}  // namespace

std::string text_of(const batch_failure& failure, const spec& properties) {
  if (failure.why == batch_failure::cause::full && failure.code == ENOMEM)
    return std::string(out_of_memory) + ' ' + failure.message;
  if (failure.why == batch_failure::cause::full)
    return properties.growth == growth_kind::refuse ? std::string(filter_is_full)
                                                    : "ERR problem inserting into filter: " + failure.message;
  if (failure.why == batch_failure::cause::key) return "ERR " + failure.message;
  return "OUTAGE " + failure.message;
}

std::string text_of_unknown(const filter& judge, std::string_view key, const std::string& fault) {
  const auto refusal = judge.refusal_of(key);
  return refusal ? "ERR " + *refusal : fault;
}

std::string text_of_current_exception() {
  try {
    throw;
  } catch (const refusal& why) {
    return why.text;
  } catch (const name_taken&) {
    return "ERR item exists";
  } catch (const no_room& why) {
    return std::string(out_of_memory) + ' ' + why.what();
  } catch (const parameter_error& why) {
    return std::string("ERR ") + why.what();
  } catch (const full_error& why) {
    if (why.code() == ENOMEM) return std::string(out_of_memory) + ' ' + why.what();
    return std::string("ERR problem inserting into filter: ") + why.what();
  } catch (const format_error& why) {
    return std::string("DAMAGED ") + why.what();
  } catch (const error& why) {
    return std::string("OUTAGE ") + why.what();
  } catch (const std::bad_alloc&) {
    return std::string(out_of_memory);
  } catch (const std::exception& why) {
    return std::string("ERR this is a bug: ") + why.what();
  }
}

}  // namespace everseen::serve
