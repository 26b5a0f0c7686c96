#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "api/resource.h"
#include "base/time.h"

namespace muster::server {

// A resourceVersion: one counter for the whole server; 0 is none.
using Version = std::uint64_t;

enum class ChangeType { Created, Updated, Deleted };

// One write: what the store makes durable and what watchers see.
struct Change {
  Version version = 0;
  std::string key;  // plural[.group]/namespace/name
  ChangeType type = ChangeType::Created;
  api::ObjectPtr
      object;            // as it is now; of a deletion, as it was, with the version of the deletion
  Version previous = 0;  // the version that this one replaced
  Time time;
  bool confidential = false;  // what it held is in no file once it is replaced or deleted
};

// What a store held when it was opened.
struct Contents {
  Version version = 0;    // the newest ever acknowledged
  Version log_floor = 0;  // `log` holds every change after this one
  Version trimmed = 0;    // and the file every one after this
  std::vector<Change> objects;
  std::vector<Change> log;  // oldest first
};

}  // namespace muster::server
