#pragma once

#include <cstdint>
#include <string_view>

struct sqlite3;
struct sqlite3_stmt;

// SQLite's handles as values that end by themselves.
namespace muster::server {

struct Connection {
  Connection() = default;
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;
  ~Connection();
  sqlite3* handle = nullptr;
};

// A prepared statement. Bound text must outlive the step.
class Statement {
 public:
  Statement() = default;
  Statement(const Statement&) = delete;
  Statement& operator=(const Statement&) = delete;
  ~Statement();

  bool prepare(sqlite3* database, const char* text);
  Statement& bind(int at, std::string_view text);
  Statement& bind(int at, std::int64_t number);
  // True while there are rows.
  bool row();
  // Runs to the end and makes ready for the next use.
  bool run();
  // The number in the first row; -1 without one. Ready for the next use.
  std::int64_t only_number();
  [[nodiscard]] bool done() const;
  [[nodiscard]] std::int64_t number(int column) const;
  [[nodiscard]] std::string_view text(int column) const;

 private:
  sqlite3_stmt* statement_ = nullptr;
  int last_ = 0;
};

}  // namespace muster::server
