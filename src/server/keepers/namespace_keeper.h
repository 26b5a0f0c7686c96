#pragma once

#include <set>
#include <string>

#include "rt/scope.h"
#include "rt/wait.h"
#include "server/store/journal.h"

namespace muster::server {

class Core;

// Empties namespaces that are being deleted (pods first, and only when they are gone the rest),
// then removes them; and keeps the default service account of the others. A task on the core's
// loop, woken by writes.
class NamespaceKeeper {
 public:
  explicit NamespaceKeeper(Core& core);

  void start();
  Task<void> close() { return scope_.close(); }

  void note(Table& table, const ObjectPtr& before, const ObjectPtr& after);

 private:
  Task<void> run();
  void advance(const std::string& name);
  // Asks for the removal of everything of the kind; true when nothing is left.
  bool empty(Table& table, const std::string& name);
  void refurnish(const std::string& name);

  Core& core_;
  std::set<std::string> terminating_;
  std::set<std::string> bare_;  // lost something that every namespace has
  rt::Event work_;
  rt::TaskScope scope_;
};

}  // namespace muster::server
