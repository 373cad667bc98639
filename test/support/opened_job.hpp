#pragma once

#include <memory>
#include <string>
#include <utility>

#include "everseen/store/port/ledger.hpp"
#include "everseen/store/port/store.hpp"

namespace everseen::test {

/// A ledger with the filter that it needs.
struct opened_job {
  std::shared_ptr<stored_filter> filter;
  std::unique_ptr<ledger> job;

  explicit opened_job(std::shared_ptr<stored_filter> in, const std::string& name = "count")
      : filter(std::move(in)), job(filter->open_ledger(name, "")) {}
  ledger& operator*() const { return *job; }
  ledger* operator->() const { return job.get(); }
};

}  // namespace everseen::test
