#include "server/store/sqlite.h"

#include <sqlite3.h>

namespace muster::server {

Connection::~Connection() {
  sqlite3_close_v2(handle);
}

Statement::~Statement() {
  sqlite3_finalize(statement_);
}

bool Statement::prepare(sqlite3* database, const char* text) {
  return sqlite3_prepare_v3(database, text, -1, SQLITE_PREPARE_PERSISTENT, &statement_, nullptr) ==
         SQLITE_OK;
}

Statement& Statement::bind(int at, std::string_view text) {
  sqlite3_bind_text(statement_, at, text.data(), static_cast<int>(text.size()), SQLITE_STATIC);
  return *this;
}

Statement& Statement::bind(int at, std::int64_t number) {
  sqlite3_bind_int64(statement_, at, number);
  return *this;
}

bool Statement::row() {
  last_ = sqlite3_step(statement_);
  return last_ == SQLITE_ROW;
}

bool Statement::run() {
  while (row()) {
  }
  sqlite3_reset(statement_);
  return done();
}

std::int64_t Statement::only_number() {
  const std::int64_t found = row() ? number(0) : -1;
  sqlite3_reset(statement_);
  return found;
}

bool Statement::done() const {
  return last_ == SQLITE_DONE;
}

std::int64_t Statement::number(int column) const {
  return sqlite3_column_int64(statement_, column);
}

std::string_view Statement::text(int column) const {
  const auto* bytes = reinterpret_cast<const char*>(sqlite3_column_text(statement_, column));
  return {bytes == nullptr ? "" : bytes,
          static_cast<std::size_t>(sqlite3_column_bytes(statement_, column))};
}

}  // namespace muster::server
