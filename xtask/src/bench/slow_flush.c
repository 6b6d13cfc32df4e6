/* A disk whose flush takes two milliseconds, as those of small cloud machines do: loaded into the server by `cargo xtask bench`, where
   the machine's own flush may take microseconds and so would hide what a commit costs elsewhere. */
#define _GNU_SOURCE
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static void wait_for_the_disk(void) {
    struct timespec pause = {0, 2000000};
    nanosleep(&pause, 0);
}

int fsync(int file) {
    wait_for_the_disk();
    return (int)syscall(SYS_fsync, file);
}

int fdatasync(int file) {
    wait_for_the_disk();
    return (int)syscall(SYS_fdatasync, file);
}
