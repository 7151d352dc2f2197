/* Counts the system calls by which a process reads or changes files below one folder, and disturbs one of them.

   It is loaded with LD_PRELOAD. $FAULTS names the file that holds `struct faults`, which all processes share and
   `torture_shim.py` sets: the call with a certain number fails, is done by half, or sends the process a signal. */

#define _GNU_SOURCE
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <unistd.h>

enum { OPEN = 1, READ = 2, STAT = 4, MAP = 8, LIST = 16, CREATE = 32, WRITE = 64, SYNC = 128, RENAME = 256, REMOVE = 512, MAKE = 1024, MODE = 2048, LOCK = 4096 };
enum { GO_ON, FAIL, HALF };

static struct faults {
    long kinds;  /* which calls are counted */
    long number; /* of those that were */
    long at;     /* the one that is disturbed; 0: none */
    long what;   /* the error it fails with; less than 0: the signal that is sent; 0: none */
    long lasts;  /* whether all later ones fail, too */
    long half;   /* whether half of a read or write is done */
    char folder[PATH_MAX];
} *faults;

__attribute__((constructor)) static void begin(void) {
    const char *name = getenv("FAULTS");
    int file = name ? open(name, O_RDWR | O_CLOEXEC) : -1;
    void *shared = file < 0 ? MAP_FAILED : mmap(NULL, sizeof *faults, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    if (file >= 0) close(file);
    if (shared != MAP_FAILED) faults = shared;
}

static int is_below(int folder, const char *name) {
    char path[2 * PATH_MAX] = "", link[64];
    size_t length = 0;
    if (!name || name[0] != '/') {
        snprintf(link, sizeof link, folder == AT_FDCWD ? "/proc/self/cwd" : "/proc/self/fd/%d", folder);
        ssize_t size = readlink(link, path, PATH_MAX);
        if (size < 0) return 0;
        length = size;
        path[length++] = '/';
    }
    if (name) snprintf(path + length, sizeof path - length, "%s", name);
    return !strncmp(path, faults->folder, strlen(faults->folder));
}

static int happens(long kind, int folder, const char *name) {
    int before = errno;
    if (!faults || !(faults->kinds & kind) || !is_below(folder, name)) {
        errno = before;
        return GO_ON;
    }
    errno = before;
    long number = __atomic_add_fetch(&faults->number, 1, __ATOMIC_SEQ_CST);
    if (!faults->at || number < faults->at || (number > faults->at && !faults->lasts)) return GO_ON;
    if (faults->half && number == faults->at && (kind & (READ | WRITE))) return HALF;
    if (faults->what < 0) kill(getpid(), -faults->what);
    if (faults->what <= 0) return GO_ON;
    errno = faults->what;
    return FAIL;
}

static void after_half(void) {
    if (faults->what < 0) kill(getpid(), -faults->what);
}

#define REAL(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))
#define CALL(type, failed, name, given, passed, kind, folder, path) \
    type name given { return happens(kind, folder, path) == FAIL ? failed : REAL(name) passed; }
#define TRANSFER(name, given, passed, halved, kind) \
    ssize_t name given { \
        int what = happens(kind, fd, NULL); \
        if (what != HALF || count < 2) return what == FAIL ? -1 : REAL(name) passed; \
        ssize_t done = REAL(name) halved; \
        after_half(); \
        return done; \
    }
#define OPENS(name, given, passed, folder) \
    int name given { \
        mode_t mode = 0; \
        if (flags & (O_CREAT | __O_TMPFILE)) { \
            va_list rest; \
            va_start(rest, flags); \
            mode = va_arg(rest, mode_t); \
            va_end(rest); \
        } \
        return happens((flags & O_ACCMODE) == O_RDONLY ? OPEN : CREATE, folder, path) == FAIL ? -1 : REAL(name) passed; \
    }

OPENS(open, (const char *path, int flags, ...), (path, flags, mode), AT_FDCWD)
OPENS(open64, (const char *path, int flags, ...), (path, flags, mode), AT_FDCWD)
OPENS(openat, (int folder, const char *path, int flags, ...), (folder, path, flags, mode), folder)
OPENS(openat64, (int folder, const char *path, int flags, ...), (folder, path, flags, mode), folder)
CALL(FILE *, NULL, fopen, (const char *path, const char *mode), (path, mode), mode[0] == 'r' ? OPEN : CREATE, AT_FDCWD, path)
CALL(FILE *, NULL, fopen64, (const char *path, const char *mode), (path, mode), mode[0] == 'r' ? OPEN : CREATE, AT_FDCWD, path)
TRANSFER(read, (int fd, void *to, size_t count), (fd, to, count), (fd, to, count / 2), READ)
TRANSFER(pread, (int fd, void *to, size_t count, off_t at), (fd, to, count, at), (fd, to, count / 2, at), READ)
TRANSFER(pread64, (int fd, void *to, size_t count, off64_t at), (fd, to, count, at), (fd, to, count / 2, at), READ)
TRANSFER(write, (int fd, const void *from, size_t count), (fd, from, count), (fd, from, count / 2), WRITE)
TRANSFER(pwrite, (int fd, const void *from, size_t count, off_t at), (fd, from, count, at), (fd, from, count / 2, at), WRITE)
TRANSFER(pwrite64, (int fd, const void *from, size_t count, off64_t at), (fd, from, count, at), (fd, from, count / 2, at), WRITE)
TRANSFER(sendfile, (int fd, int from, off_t *at, size_t count), (fd, from, at, count), (fd, from, at, count / 2), WRITE)
TRANSFER(sendfile64, (int fd, int from, off64_t *at, size_t count), (fd, from, at, count), (fd, from, at, count / 2), WRITE)
CALL(int, -1, stat, (const char *path, struct stat *to), (path, to), STAT, AT_FDCWD, path)
CALL(int, -1, stat64, (const char *path, struct stat64 *to), (path, to), STAT, AT_FDCWD, path)
CALL(int, -1, lstat, (const char *path, struct stat *to), (path, to), STAT, AT_FDCWD, path)
CALL(int, -1, lstat64, (const char *path, struct stat64 *to), (path, to), STAT, AT_FDCWD, path)
CALL(int, -1, fstat, (int fd, struct stat *to), (fd, to), STAT, fd, NULL)
CALL(int, -1, fstat64, (int fd, struct stat64 *to), (fd, to), STAT, fd, NULL)
CALL(void *, MAP_FAILED, mmap, (void *to, size_t size, int use, int flags, int fd, off_t at), (to, size, use, flags, fd, at), fd < 0 ? 0 : MAP, fd, NULL)
CALL(void *, MAP_FAILED, mmap64, (void *to, size_t size, int use, int flags, int fd, off64_t at), (to, size, use, flags, fd, at), fd < 0 ? 0 : MAP, fd, NULL)
CALL(DIR *, NULL, opendir, (const char *path), (path), LIST, AT_FDCWD, path)
CALL(DIR *, NULL, fdopendir, (int fd), (fd), LIST, fd, NULL)
CALL(int, -1, fsync, (int fd), (fd), SYNC, fd, NULL)
CALL(int, -1, fdatasync, (int fd), (fd), SYNC, fd, NULL)
CALL(int, -1, ftruncate, (int fd, off_t size), (fd, size), WRITE, fd, NULL)
CALL(int, -1, ftruncate64, (int fd, off64_t size), (fd, size), WRITE, fd, NULL)
CALL(int, errno, posix_fallocate, (int fd, off_t at, off_t size), (fd, at, size), WRITE, fd, NULL)
CALL(int, errno, posix_fallocate64, (int fd, off64_t at, off64_t size), (fd, at, size), WRITE, fd, NULL)
CALL(int, -1, rename, (const char *path, const char *to), (path, to), RENAME, AT_FDCWD, path)
CALL(int, -1, renameat, (int from, const char *path, int there, const char *to), (from, path, there, to), RENAME, from, path)
CALL(int, -1, renameat2, (int from, const char *path, int there, const char *to, unsigned how), (from, path, there, to, how), RENAME, from, path)
CALL(int, -1, unlink, (const char *path), (path), REMOVE, AT_FDCWD, path)
CALL(int, -1, unlinkat, (int folder, const char *path, int how), (folder, path, how), REMOVE, folder, path)
CALL(int, -1, rmdir, (const char *path), (path), REMOVE, AT_FDCWD, path)
CALL(int, -1, mkdir, (const char *path, mode_t mode), (path, mode), MAKE, AT_FDCWD, path)
CALL(int, -1, mkdirat, (int folder, const char *path, mode_t mode), (folder, path, mode), MAKE, folder, path)
CALL(int, -1, chmod, (const char *path, mode_t mode), (path, mode), MODE, AT_FDCWD, path)
CALL(int, -1, fchmod, (int fd, mode_t mode), (fd, mode), MODE, fd, NULL)
CALL(int, -1, chown, (const char *path, uid_t user, gid_t group), (path, user, group), MODE, AT_FDCWD, path)
CALL(int, -1, flock, (int fd, int how), (fd, how), LOCK, fd, NULL)
