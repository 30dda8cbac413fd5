// SPDX-License-Identifier: Apache-2.0
//
// Invariants:
// - The final name appears in one step, after the content and the length are durable.
// - An existing file is never replaced, whoever makes it and whenever.
// - A named temporary is unlinked on every failure, and only while it is ours.

#include "io/create_file.h"

#include <cerrno>
#include <cstdio>

#include <fcntl.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "io/file_size_signal.h"
#include "io/open_descriptor.h"
#include "io/system_storage.h"

namespace crawlstore::io {
namespace {

constexpr mode_t kFileMode = 0666;  // the caller's umask decides

class Descriptor {
 public:
  explicit Descriptor(int number) : number_(number) {}
  ~Descriptor() {
    if (number_ != -1) ::close(number_);
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  [[nodiscard]] int number() const { return number_; }

 private:
  int number_;
};

template <class Call>
int repeat_interrupted(Call call) {
  for (;;) {
    const int result = call();
    if (result != -1 || errno != EINTR) return result;
  }
}

std::string folder_of(const std::string& path) {
  const auto slash = path.find_last_of('/');
  if (slash == std::string::npos) return ".";
  return slash == 0 ? "/" : path.substr(0, slash);
}

Result<void> sync_folder(const std::string& folder) {
  const Descriptor opened(open_descriptor(folder.c_str(), O_RDONLY | O_DIRECTORY));
  if (opened.number() == -1) return fail_errno(errno, "cannot open the folder to sync it");
  // Some network file systems do not sync folders and say so with EINVAL: nothing to be done.
  if (repeat_interrupted([&] { return ::fsync(opened.number()); }) != 0 && errno != EINVAL) {
    return fail_errno(errno, "cannot sync the folder");
  }
  return {};
}

std::string link_of(int descriptor) {
  return "/proc/self/fd/" + std::to_string(descriptor);
}

/// Lets `fill` write, then syncs. A second descriptor of the same description goes to the storage,
/// so that the file outlives it.
Result<void> fill_and_sync(int descriptor, Result<void> (*fill)(Storage&, void*), void* context) {
  const int storage_descriptor = ::fcntl(descriptor, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
  if (storage_descriptor == -1) return fail_errno(errno, "cannot use the new file");
  {
    SystemStorage storage(storage_descriptor, std::string(), OpenMode::kWrite);
    CRAWLSTORE_TRY(fill(storage, context));
  }
  const FileSizeSignalBlock block;
  if (repeat_interrupted([&] { return ::fsync(descriptor); }) != 0) {
    return fail_errno(errno, "cannot sync the new file");
  }
  return {};
}

/// Opens a file without a name in `folder`; -1 when the file system or the system cannot.
int open_nameless(const std::string& folder) {
  const int descriptor = open_descriptor(folder.c_str(), O_TMPFILE | O_RDWR, kFileMode);
  if (descriptor == -1) return -1;
  struct stat through_proc = {};
  if (::stat(link_of(descriptor).c_str(), &through_proc) == 0) return descriptor;
  ::close(descriptor);  // without /proc it could never get its name
  errno = EOPNOTSUPP;
  return -1;
}

Result<void> create_nameless(int descriptor, const std::string& path,
                             Result<void> (*fill)(Storage&, void*), void* context) {
  CRAWLSTORE_TRY(fill_and_sync(descriptor, fill, context));
  if (::linkat(AT_FDCWD, link_of(descriptor).c_str(), AT_FDCWD, path.c_str(), AT_SYMLINK_FOLLOW) !=
      0) {
    return fail_errno(errno, "cannot name the new file");
  }
  return {};
}

std::string temporary_name(const std::string& path) {
  std::uint64_t random = 0;
  if (::getrandom(&random, sizeof random, 0) != static_cast<ssize_t>(sizeof random)) {
    random = static_cast<std::uint64_t>(::getpid());
  }
  char digits[17];
  std::snprintf(digits, sizeof digits, "%016llx", static_cast<unsigned long long>(random));
  const auto slash = path.find_last_of('/');
  const std::size_t name_at = slash == std::string::npos ? 0 : slash + 1;
  return path.substr(0, name_at) + "." + path.substr(name_at) + ".crawlstore-" + digits + ".tmp";
}

/// Moves `from` to `to` unless something is there.
Result<void> rename_without_replacing(const std::string& from, const std::string& to) {
  if (::renameat2(AT_FDCWD, from.c_str(), AT_FDCWD, to.c_str(), RENAME_NOREPLACE) == 0) return {};
  if (errno != EINVAL && errno != ENOSYS && errno != EOPNOTSUPP) {
    return fail_errno(errno, "cannot name the new file");
  }
  if (::link(from.c_str(), to.c_str()) != 0) return fail_errno(errno, "cannot name the new file");
  ::unlink(from.c_str());
  return {};
}

Result<void> create_named(const std::string& path, Result<void> (*fill)(Storage&, void*),
                          void* context) {
  const std::string temporary = temporary_name(path);
  const Descriptor opened(open_descriptor(temporary.c_str(), O_CREAT | O_EXCL | O_RDWR, kFileMode));
  if (opened.number() == -1) return fail_errno(errno, "cannot create the file");
  Result<void> created = fill_and_sync(opened.number(), fill, context);
  if (created) created = rename_without_replacing(temporary, path);
  if (!created) ::unlink(temporary.c_str());
  return created;
}

bool means_no_nameless_files(int system_errno) {
  return system_errno == EOPNOTSUPP || system_errno == EISDIR || system_errno == EINVAL ||
         system_errno == ENOENT;
}

}  // namespace

Result<void> create_file_with(const std::string& path, TemporaryKind kind,
                              Result<void> (*fill)(Storage&, void*), void* context) {
  struct stat status = {};
  // Only to fail early: what counts is that naming never replaces.
  if (::lstat(path.c_str(), &status) == 0) return fail_errno(EEXIST, "the path is taken");
  const std::string folder = folder_of(path);
  if (kind != TemporaryKind::kNamed) {
    const Descriptor nameless(open_nameless(folder));
    if (nameless.number() != -1) {
      CRAWLSTORE_TRY(create_nameless(nameless.number(), path, fill, context));
      return sync_folder(folder);
    }
    if (kind == TemporaryKind::kNameless || !means_no_nameless_files(errno)) {
      return fail_errno(errno, "cannot create the file");
    }
  }
  CRAWLSTORE_TRY(create_named(path, fill, context));
  return sync_folder(folder);
}

}  // namespace crawlstore::io

namespace crawlstore {

Result<void> create_file(const std::string& path, Result<void> (*fill)(Storage&, void* context),
                         void* context) {
  return io::create_file_with(path, io::TemporaryKind::kBest, fill, context);
}

}  // namespace crawlstore
