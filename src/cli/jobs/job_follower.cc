#include "cli/jobs/job_follower.h"

#include <fmt/format.h>

#include "api/pod.h"
#include "base/strings.h"
#include "plan/plan.h"

namespace muster::cli {
namespace {

bool has_started(const json::Value& status) {
  return status["state"]["running"].is_object() || status["state"]["terminated"].is_object();
}

}  // namespace

class JobFollower::JobSink final : public cluster::Sink {
 public:
  explicit JobSink(JobFollower& owner) : owner_(owner) {}
  void begin() override { staged_.reset(); }
  void stage(std::vector<cluster::ObjectPtr> page) override {
    for (auto& object : page) {
      if (api::uid_of(*object) == owner_.followed_.uid) staged_ = std::move(object);
    }
  }
  void commit(const std::string&) override {
    owner_.gone_ = !staged_;
    if (staged_) owner_.job_ = std::move(staged_);
    staged_.reset();
    owner_.changed_.pulse();
  }
  void apply(const cluster::WatchEvent& event) override {
    if (api::uid_of(*event.object) != owner_.followed_.uid) return;
    owner_.job_ = event.object;
    owner_.gone_ = event.type == cluster::EventType::Deleted;
    owner_.changed_.pulse();
  }

 private:
  JobFollower& owner_;
  cluster::ObjectPtr staged_;
};

class JobFollower::PodSink final : public cluster::Sink {
 public:
  explicit PodSink(JobFollower& owner) : owner_(owner) {}
  void begin() override { staged_.clear(); }
  void stage(std::vector<cluster::ObjectPtr> page) override {
    staged_.insert(staged_.end(), page.begin(), page.end());
  }
  void commit(const std::string&) override {
    owner_.pods_.clear();
    for (const auto& pod : std::exchange(staged_, {})) owner_.see_pod(pod);
    owner_.changed_.pulse();
  }
  void apply(const cluster::WatchEvent& event) override {
    if (event.type == cluster::EventType::Deleted) {
      owner_.pods_.erase(api::name_of(*event.object));
    } else {
      owner_.see_pod(event.object);
    }
    owner_.changed_.pulse();
  }

 private:
  JobFollower& owner_;
  std::vector<cluster::ObjectPtr> staged_;
};

JobFollower::JobFollower(Context& context, cluster::Cluster& cluster, Followed followed,
                         Screen& screen, Options options)
    : context_(context),
      cluster_(cluster),
      followed_(std::move(followed)),
      options_(std::move(options)),
      lines_(screen, {.prefix = options_.prefix}),
      changed_(context.loop),
      job_sink_(std::make_unique<JobSink>(*this)),
      pod_sink_(std::make_unique<PodSink>(*this)),
      scope_(context.loop),
      logs_(context.loop) {
  job_reflector_ = std::make_unique<cluster::Reflector>(
      context.loop, cluster, followed_.resource,
      cluster::Selection{.ns = followed_.key.ns, .fields = "metadata.name=" + followed_.key.name},
      *job_sink_, context.rng, context.log);
  pod_reflector_ = std::make_unique<cluster::Reflector>(
      context.loop, cluster, api::pods(), followed_.pods, *pod_sink_, context.rng, context.log);
}

JobFollower::~JobFollower() = default;

void JobFollower::start() {
  scope_.spawn(job_reflector_->run());
  scope_.spawn(pod_reflector_->run());
}

Task<void> JobFollower::close() {
  co_await scope_.close();
  co_await logs_.close();
}

bool JobFollower::finished() const {
  return job_ && followed_.view(*job_).finished();
}

void JobFollower::see_pod(const cluster::ObjectPtr& pod) {
  pods_[api::name_of(*pod)] = pod;
  if (!options_.logs) return;
  const std::string& role = api::label_of(*pod, plan::labels::kRole);
  const int index =
      static_cast<int>(parse_int(api::label_of(*pod, plan::labels::kIndex)).value_or(0));
  if (!options_.filter.accepts(role, index)) return;
  for (const json::Value& status : (*pod)["status"]["containerStatuses"].as_array()) {
    const std::string& container = status["name"].as_string();
    const std::string once =
        fmt::format("{}/{}/{}", api::uid_of(*pod), container, status["restartCount"].as_int());
    if (!has_started(status) || !begun_logs_.insert(once).second) continue;
    logs_.spawn(follow_log(api::key_of(*pod),
                           {.pod = api::name_of(*pod),
                            .container = container,
                            .role = role,
                            .index = index,
                            .alone = (*pod)["spec"]["containers"].as_array().size() == 1}));
  }
}

Task<void> JobFollower::follow_log(api::ObjectKey pod, LogOrigin origin) {
  auto stream = co_await cluster_.log(pod, {.container = origin.container, .follow = true});
  if (!stream) {
    context_.log.debug("log of {}: {}", pod.text(), stream.error().message);
    co_return;
  }
  while (true) {
    const auto chunk = co_await (*stream)->next();
    if (!chunk || !*chunk) break;
    lines_.bytes(origin, "", **chunk);
  }
  lines_.ended(origin);
}

Task<void> JobFollower::drain_logs(Duration limit) {
  const rt::Timer enough(context_.loop, limit, [this] { logs_.request_stop(); });
  co_await logs_.join();
}

}  // namespace muster::cli
