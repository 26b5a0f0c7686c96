#include <algorithm>
#include <new>
#include <string>

#include "faulty_disk.h"

// A FaultyDisk as SQLite sees it.
namespace muster::server {
namespace {

std::string last_part(const std::string& path) {
  return path.substr(path.rfind('/') + 1);
}

struct VfsFile {
  sqlite3_file base;
  FaultyDisk* disk;
  std::size_t file;
  int chunk;
  int persist;
};

VfsFile& of(sqlite3_file* file) {
  return *reinterpret_cast<VfsFile*>(file);
}

int file_close(sqlite3_file*) {
  return SQLITE_OK;
}
int file_read(sqlite3_file* file, void* to, int count, sqlite3_int64 at) {
  return of(file).disk->read(of(file).file, static_cast<char*>(to), static_cast<std::size_t>(count),
                             static_cast<std::uint64_t>(at));
}
int file_write(sqlite3_file* file, const void* from, int count, sqlite3_int64 at) {
  return of(file).disk->write(
      of(file).file, std::string(static_cast<const char*>(from), static_cast<std::size_t>(count)),
      static_cast<std::uint64_t>(at));
}
int file_truncate(sqlite3_file* file, sqlite3_int64 size) {
  if (of(file).chunk > 0) size = (size + of(file).chunk - 1) / of(file).chunk * of(file).chunk;
  return of(file).disk->resize(of(file).file, static_cast<std::uint64_t>(size));
}
int file_sync(sqlite3_file* file, int) {
  return of(file).disk->sync(of(file).file);
}
int file_size(sqlite3_file* file, sqlite3_int64* size) {
  *size = static_cast<sqlite3_int64>(of(file).disk->file_size(of(file).file));
  return SQLITE_OK;
}
int file_lock(sqlite3_file*, int) {
  return SQLITE_OK;
}
int file_check_lock(sqlite3_file*, int* reserved) {
  *reserved = 0;
  return SQLITE_OK;
}
int file_control(sqlite3_file* file, int which, void* argument) {
  VfsFile& it = of(file);
  switch (which) {
    case SQLITE_FCNTL_CHUNK_SIZE:
      it.chunk = *static_cast<int*>(argument);
      return SQLITE_OK;
    case SQLITE_FCNTL_SIZE_HINT: {
      auto bytes = *static_cast<sqlite3_int64*>(argument);
      if (it.chunk > 0) bytes = (bytes + it.chunk - 1) / it.chunk * it.chunk;
      if (static_cast<std::uint64_t>(bytes) <= it.disk->file_size(it.file)) return SQLITE_OK;
      const int grown = it.disk->resize(it.file, static_cast<std::uint64_t>(bytes));
      return grown == SQLITE_OK ? SQLITE_OK : SQLITE_IOERR_WRITE;  // as the unix VFS has it
    }
    case SQLITE_FCNTL_PERSIST_WAL: {
      int& wish = *static_cast<int*>(argument);
      if (wish < 0)
        wish = it.persist;
      else
        it.persist = wish;
      return SQLITE_OK;
    }
    default:
      return SQLITE_NOTFOUND;
  }
}
int file_sector(sqlite3_file*) {
  return 4096;  // what the unix VFS says
}
int file_traits(sqlite3_file*) {
  return SQLITE_IOCAP_POWERSAFE_OVERWRITE;  // it too: a write harms nothing beside itself
}

const sqlite3_io_methods kMethods{.iVersion = 1,
                                  .xClose = file_close,
                                  .xRead = file_read,
                                  .xWrite = file_write,
                                  .xTruncate = file_truncate,
                                  .xSync = file_sync,
                                  .xFileSize = file_size,
                                  .xLock = file_lock,
                                  .xUnlock = file_lock,
                                  .xCheckReservedLock = file_check_lock,
                                  .xFileControl = file_control,
                                  .xSectorSize = file_sector,
                                  .xDeviceCharacteristics = file_traits};

FaultyDisk& disk_of(sqlite3_vfs* vfs) {
  return *static_cast<FaultyDisk*>(vfs->pAppData);
}

int vfs_open(sqlite3_vfs* vfs, const char* name, sqlite3_file* file, int flags, int* out) {
  FaultyDisk& disk = disk_of(vfs);
  if (name == nullptr) return SQLITE_CANTOPEN;  // temporary ones are in memory
  const std::size_t found = disk.open(last_part(name), (flags & SQLITE_OPEN_CREATE) != 0);
  file->pMethods = nullptr;
  if (found == FaultyDisk::kNone) return SQLITE_CANTOPEN;
  new (file) VfsFile{
      .base = {.pMethods = &kMethods}, .disk = &disk, .file = found, .chunk = 0, .persist = 0};
  if (out != nullptr) *out = flags;
  return SQLITE_OK;
}
int vfs_delete(sqlite3_vfs* vfs, const char* name, int sync) {
  return disk_of(vfs).remove(last_part(name), sync != 0);
}
int vfs_access(sqlite3_vfs* vfs, const char* name, int, int* out) {
  *out = disk_of(vfs).exists(last_part(name)) ? 1 : 0;
  return SQLITE_OK;
}
int vfs_full_path(sqlite3_vfs*, const char* name, int count, char* out) {
  sqlite3_snprintf(count, out, "%s", name);
  return SQLITE_OK;
}

}  // namespace

sqlite3_vfs vfs_of(FaultyDisk& disk, const std::string& name) {
  sqlite3_vfs vfs = *sqlite3_vfs_find(nullptr);  // for randomness, time and sleep
  vfs.iVersion = 1;
  vfs.szOsFile = sizeof(VfsFile);
  vfs.pNext = nullptr;
  vfs.zName = name.c_str();
  vfs.pAppData = &disk;
  vfs.xOpen = vfs_open;
  vfs.xDelete = vfs_delete;
  vfs.xAccess = vfs_access;
  vfs.xFullPathname = vfs_full_path;
  return vfs;
}

}  // namespace muster::server
