#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/log.h"
#include "base/random.h"
#include "cluster/cluster.h"
#include "cluster/page_limit.h"
#include "rt/loop.h"
#include "rt/task.h"
#include "rt/wait.h"

namespace muster::cluster {

// Who is told of a kind's objects, in order. A list arrives in pages, none of which is kept by the
// sender: begin, stage…, commit. Readers of the sink see what was known before until the commit.
class Sink {
 public:
  virtual ~Sink() = default;
  // A list starts; whatever an unfinished one staged is dropped.
  virtual void begin() = 0;
  virtual void stage(std::vector<ObjectPtr> page) = 0;
  // The list is whole: what no page held is gone, unless it is newer than the list.
  virtual void commit(const std::string& resource_version) = 0;
  virtual void apply(const WatchEvent& event) = 0;
};

// resourceVersions are decimal and only grow; 0 for anything else.
std::uint64_t version_number(const std::string& resource_version);

// Keeps a sink up to date with one kind: list, watch, resume after a cut, list again when the
// version is too old, and in any case within ten minutes: an event that a server lost is healed by
// nothing else. What keeps it from its work is said in the log, once, and lasts as trouble() until
// it works again. Ends only when it is cancelled. Lives on the loop; cluster and sink outlive it.
class Reflector {
 public:
  Reflector(rt::Loop& loop, Cluster& cluster, const Resource& resource, Selection where, Sink& sink,
            Rng& rng, Logger log);

  Task<void> run();
  // Set once the first list has been handed over.
  rt::Event& synced() { return synced_; }
  // Why the kind cannot be listed or watched at present; nothing while all is well. NotFound: the
  // server does not know the kind.
  [[nodiscard]] const std::optional<Error>& trouble() const { return trouble_; }
  // Pulsed when trouble begins, changes or ends, and at the first list.
  rt::Event& news() { return news_; }
  [[nodiscard]] const Resource& resource() const { return resource_; }
  // Lists and watches that failed, ever.
  [[nodiscard]] std::uint64_t failed() const { return failed_; }
  // When a list, an event or a bookmark last came; a server that is well sends one a minute.
  [[nodiscard]] std::optional<Time> heard_at() const { return heard_at_; }
  // What to do when the server does not know the kind: a part of that trouble's sentence.
  void set_remedy_for_absence(std::string remedy) { remedy_ = std::move(remedy); }

 private:
  Task<Result<void>> relist();
  Task<Result<ListPage>> list_page(ListOptions options);
  Task<Result<void>> watch();
  // Watches until it is time to list again.
  Task<Result<void>> watch_for_a_while();
  void complain(std::string_view doing, const Error& error);
  void end_trouble();
  // After a watch or list ended badly, before the next try: doubling, up to 30 s.
  Duration next_pause(const Error& error);

  rt::Loop& loop_;
  Cluster& cluster_;
  Resource resource_;
  Selection where_;
  Sink& sink_;
  Rng& rng_;
  Logger log_;
  rt::Event synced_;
  rt::Event news_;
  PageLimit page_limit_;
  std::string remedy_;
  std::optional<Error> trouble_;
  std::string complained_;  // the last complaint, until something worked
  std::uint64_t failed_ = 0;
  std::optional<Time> heard_at_;
  std::string version_;  // empty: a list is needed
  Monotonic relist_at_;
  int failures_ = 0;
};

}  // namespace muster::cluster
