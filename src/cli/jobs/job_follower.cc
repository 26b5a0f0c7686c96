#include "cli/jobs/job_follower.h"

#include <algorithm>
#include <utility>

#include "api/pod.h"
#include "api/selector.h"
#include "cli/history/run_record.h"
#include "cli/jobs/listing.h"
#include "cli/logs/log_target.h"

namespace muster::cli {

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
  explicit PodSink(JobFollower& owner)
      : owner_(owner),
        labels_(
            api::LabelSelector::parse(owner.followed_.pods.labels).value_or(api::LabelSelector())),
        fields_(
            api::FieldSelector::parse(owner.followed_.pods.fields).value_or(api::FieldSelector())) {
  }
  void begin() override { staged_.clear(); }
  void stage(std::vector<cluster::ObjectPtr> page) override {
    staged_.insert(staged_.end(), page.begin(), page.end());
  }
  void commit(const std::string&) override {
    auto before = std::exchange(owner_.pods_, {});
    for (const auto& pod : std::exchange(staged_, {})) owner_.see_pod(pod);
    for (const auto& [name, pod] : before) {
      const auto now = owner_.pods_.find(name);
      if (now == owner_.pods_.end() || api::uid_of(*now->second) != api::uid_of(*pod))
        owner_.lose_pod(pod);
    }
    owner_.knows_pods_ = true;
    owner_.changed_.pulse();
  }
  void apply(const cluster::WatchEvent& event) override {
    // After its restart a server may not know whether what changed was selected before, and say of
    // anybody's pod that it is gone.
    if (!labels_.matches(*event.object) || !fields_.matches(*event.object)) return;
    if (event.type == cluster::EventType::Deleted) {
      owner_.lost_files_.see(*event.object);
      owner_.pods_.erase(api::name_of(*event.object));
      owner_.lose_pod(event.object);
    } else {
      owner_.see_pod(event.object);
    }
    owner_.changed_.pulse();
  }

 private:
  JobFollower& owner_;
  api::LabelSelector labels_;
  api::FieldSelector fields_;
  std::vector<cluster::ObjectPtr> staged_;
};

JobFollower::JobFollower(Context& context, cluster::Cluster& cluster, Followed followed)
    : context_(context),
      cluster_(cluster),
      followed_(std::move(followed)),
      changed_(context.loop),
      job_sink_(std::make_unique<JobSink>(*this)),
      pod_sink_(std::make_unique<PodSink>(*this)),
      scope_(context.loop) {
  job_reflector_ = std::make_unique<cluster::Reflector>(
      context.loop, cluster, followed_.resource,
      cluster::Selection{.ns = followed_.key.ns, .fields = "metadata.name=" + followed_.key.name},
      *job_sink_, context.rng, context.log);
  pod_reflector_ = std::make_unique<cluster::Reflector>(
      context.loop, cluster, api::pods(), followed_.pods, *pod_sink_, context.rng, context.log);
}

JobFollower::JobFollower(Context& context, cluster::Cluster& cluster, Followed followed,
                         LogSink& sink, RankLogs::Options options)
    : JobFollower(context, cluster, std::move(followed)) {
  logs_ = std::make_unique<RankLogs>(context, cluster, sink, std::move(options));
}

JobFollower::~JobFollower() = default;

void JobFollower::start() {
  scope_.spawn(job_reflector_->run());
  scope_.spawn(pod_reflector_->run());
  if (logs_) logs_->follow();
}

Task<void> JobFollower::close() {
  co_await scope_.close();
  if (logs_) co_await logs_->close();
}

bool JobFollower::finished() const {
  return job_ && followed_.view(*job_).finished();
}

void JobFollower::see_pod(const cluster::ObjectPtr& pod) {
  pods_[api::name_of(*pod)] = pod;
  last_seen_[api::name_of(*pod)] = pod;
  lost_files_.see(*pod);
  if (logs_) logs_->see(*pod);
}

void JobFollower::lose_pod(const cluster::ObjectPtr& pod) {
  last_seen_[api::name_of(*pod)] = pod;
  if (!logs_) return;
  logs_->see(*pod);  // as it was when it went: it may be the first that we hear of it
  logs_->forget(api::uid_of(*pod));
}

// Pods that came and went while nobody could tell us of them.
void JobFollower::see_recorded_pods() {
  if (context_.wants_cluster() || !logs_->wants_all_runs()) return;
  const auto run = read_record(context_.home, followed_.uid);
  if (!run) return;
  for (const RecordedPod& pod : run->pods) {
    for (const KeptContainer& container : kept_containers(context_.home, *run, pod)) {
      const bool is_main =
          std::ranges::find(pod.containers, container.origin.container) != pod.containers.end();
      if (is_main) logs_->see_kept(container);
    }
  }
}

// The job and its pods are watched separately: the end of the job may be seen before its pods.
Task<void> JobFollower::drain_logs(Duration limit) {
  if (!logs_) co_return;
  const auto pods = co_await list_all(cluster_, api::pods(), followed_.pods);
  if (pods) {
    for (const auto& pod : *pods) logs_->see(*pod);
  }
  see_recorded_pods();
  co_await logs_->drain(limit);
}

}  // namespace muster::cli
