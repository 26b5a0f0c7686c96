#include "cli/objects/watched.h"

#include <utility>

namespace muster::cli {

Watched::Watched(Context& context, cluster::Cluster& cluster, const api::Resource& resource,
                 api::Selection where, rt::Event& changed, Listener listener)
    : listener_(std::move(listener)),
      changed_(changed),
      reflector_(context.loop, cluster, resource, std::move(where), *this, context.rng,
                 context.log),
      scope_(context.loop) {}

void Watched::start() {
  scope_.spawn(reflector_.run());
  scope_.spawn(report_trouble());
}

Task<void> Watched::close() {
  co_await scope_.close();
}

std::optional<Error> Watched::refusal() const {
  const auto& trouble = reflector_.trouble();
  if (known_ || !trouble) return std::nullopt;
  switch (trouble->code) {
    case ErrorCode::Forbidden:
    case ErrorCode::Unauthorized:
    case ErrorCode::NotFound:
    case ErrorCode::BadRequest:
    case ErrorCode::MethodNotAllowed:
      return trouble;
    default:
      return std::nullopt;
  }
}

Task<void> Watched::report_trouble() {
  while (co_await reflector_.news().wait()) changed_.pulse();
}

void Watched::stage(std::vector<cluster::ObjectPtr> page) {
  for (auto& object : page) staged_[api::key_of(*object)] = std::move(object);
}

void Watched::commit(const std::string&) {
  const auto before = std::exchange(objects_, std::exchange(staged_, {}));
  known_ = true;
  if (listener_) {
    for (const auto& [key, object] : before) {
      const auto now = objects_.find(key);
      if (now == objects_.end() || api::uid_of(*now->second) != api::uid_of(*object))
        listener_(Change::Gone, object);
    }
    for (const auto& [key, object] : objects_) {
      const auto old = before.find(key);
      if (old == before.end() ||
          api::resource_version_of(*old->second) != api::resource_version_of(*object))
        listener_(Change::Seen, object);
    }
  }
  changed_.pulse();
}

void Watched::apply(const cluster::WatchEvent& event) {
  const api::ObjectKey key = api::key_of(*event.object);
  if (event.type == cluster::EventType::Deleted) {
    objects_.erase(key);
    if (listener_) listener_(Change::Gone, event.object);
  } else {
    objects_[key] = event.object;
    if (listener_) listener_(Change::Seen, event.object);
  }
  changed_.pulse();
}

}  // namespace muster::cli
