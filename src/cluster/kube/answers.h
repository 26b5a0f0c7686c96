#pragma once

#include <string_view>

#include "api/resource.h"
#include "base/error.h"
#include "cluster/cluster.h"
#include "json/value.h"

// What a server says, as values. Pure; the bytes are only as trusted as the server: everything is
// bounded. metadata.managedFields, half of a pod's bytes and read by nobody here, is dropped.
namespace muster::cluster::kube {

// One object.
Result<ObjectPtr> read_object(std::string_view body);
// A list; items carry the apiVersion and kind that the server leaves out of them. TooLarge when it
// holds more values than are read: a shorter page may not.
Result<ListPage> read_list(const Resource& resource, std::string_view body);
// What is left after a delete: the object, or one made of the Status' details.
Result<ObjectPtr> read_removed(const Resource& resource, const ObjectKey& key,
                               std::string_view body);
// One line of a watch. An ERROR event is an error (Gone for 410).
Result<WatchEvent> read_event(std::string_view line);
Result<Token> read_token(std::string_view body);

// An answer that is not a 2xx. `retry_after` is that header's value, or empty.
Error read_error(int status, std::string_view body, std::string_view retry_after);

}  // namespace muster::cluster::kube
