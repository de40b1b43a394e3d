/* Stands between the program and libc, loaded by LD_PRELOAD:
 *
 *   TEST_NO_TMPFILE  files without a name cannot be made, as on some file systems
 *   TEST_SYNC_LOG    a file that gets a line "file" or "directory" for each fsync
 *   TEST_SYNC_STOP   a pipe: at the first fsync of a file its name is opened, which wakes the reader, and
 *                    the thread waits there for good
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

static int without_unnamed(int flags) {
    return (flags & O_TMPFILE) == O_TMPFILE && getenv("TEST_NO_TMPFILE") != NULL;
}

#define OPENAT(NAME)                                                                                        \
    int NAME(int directory, const char *path, int flags, ...) {                                             \
        static int (*next)(int, const char *, int, ...);                                                    \
        if (next == NULL)                                                                                   \
            next = (int (*)(int, const char *, int, ...))dlsym(RTLD_NEXT, #NAME);                           \
        if (without_unnamed(flags)) {                                                                       \
            errno = EOPNOTSUPP;                                                                             \
            return -1;                                                                                      \
        }                                                                                                   \
        va_list arguments;                                                                                  \
        va_start(arguments, flags);                                                                         \
        mode_t mode = va_arg(arguments, mode_t);                                                            \
        va_end(arguments);                                                                                  \
        return next(directory, path, flags, mode);                                                          \
    }

OPENAT(openat)
OPENAT(openat64)

int fsync(int file) {
    static int (*next)(int);
    if (next == NULL)
        next = (int (*)(int))dlsym(RTLD_NEXT, "fsync");
    struct stat status;
    int is_directory = fstat(file, &status) == 0 && S_ISDIR(status.st_mode);
    const char *log = getenv("TEST_SYNC_LOG");
    if (log != NULL) {
        const char *line = is_directory ? "directory\n" : "file\n";
        int lines = open(log, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
        if (lines < 0 || write(lines, line, is_directory ? 10 : 5) < 0)
            abort();
        close(lines);
    }
    const char *stop = getenv("TEST_SYNC_STOP");
    if (stop != NULL && !is_directory) {
        if (open(stop, O_WRONLY | O_CLOEXEC) < 0)
            abort();
        for (;;)
            pause();
    }
    return next(file);
}
