#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "everseen/capi/handles.hpp"
#include "everseen/core/base/names.hpp"
#include "everseen/open_store.hpp"
#include "everseen/store/port/filter_stream.hpp"

// Filters as streams of bytes.
namespace capi = everseen::capi;

everseen_status everseen_export(const everseen_filter* filter, everseen_write write, void* context) {
  return capi::guarded([&] {
    capi::must_not_be_null(filter, "filter");
    capi::must_not_be_null(reinterpret_cast<const void*>(write), "write");
    const everseen::stored_filter& from = filter->filter.stored();
    if (from.estimates_keys())
      throw everseen::parameter_error("the filter " + everseen::quoted_name(filter->filter.name()) +
                                      " is attached: its bits fit no other filter; copy them with: everseen "
                                      "export --to raw");
    everseen::write_stream(from, filter->filter.name(), [&](std::span<const std::byte> bytes) {
      if (write(context, bytes.data(), bytes.size()) != 0)
        throw everseen::storage_error("the function that writes the filter failed", 0, "");
    });
  });
}

everseen_status everseen_import(const char* url, const char* name, everseen_read read, void* context) {
  return capi::guarded([&] {
    capi::must_not_be_null(url, "url");
    capi::must_not_be_null(name, "name");
    capi::must_not_be_null(reinterpret_cast<const void*>(read), "read");
    const std::string known_as = everseen::typed_name(name);
    const std::shared_ptr<everseen::store> place = everseen::open_store(url);
    everseen::read_stream(*place, known_as, [&](std::span<std::byte> into) {
      const std::int64_t count = read(context, into.data(), into.size());
      if (count < 0 || static_cast<std::uint64_t>(count) > into.size())
        throw everseen::storage_error("the function that reads the filter failed", 0, "");
      return static_cast<std::size_t>(count);
    });
  });
}
