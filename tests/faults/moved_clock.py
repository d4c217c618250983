"""Another time of day for whole processes: a library that answers for the kernel, loaded before all others.

Only the time of day moves. The monotonic clock stays: by it a process sleeps and waits, whatever the time is said to
be.
(libfaketime moves that clock too, or breaks the sleep of Python 3.11.)
"""

import shutil
import subprocess
from pathlib import Path

_SOURCE = r"""
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdlib.h>
#include <sys/time.h>
#include <time.h>

static time_t ahead(void) {
    const char *told = getenv("CLOCK_AHEAD");
    return told ? atol(told) : 0;
}

int clock_gettime(clockid_t clock, struct timespec *now) {
    int (*asked)(clockid_t, struct timespec *) = dlsym(RTLD_NEXT, "clock_gettime");
    int failed = asked(clock, now);
    if (!failed && (clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE))
        now->tv_sec += ahead();
    return failed;
}

int gettimeofday(struct timeval *restrict now, void *restrict zone) {
    struct timespec found;
    (void)zone;
    clock_gettime(CLOCK_REALTIME, &found);
    now->tv_sec = found.tv_sec;
    now->tv_usec = found.tv_nsec / 1000;
    return 0;
}

time_t time(time_t *now) {
    struct timespec found;
    clock_gettime(CLOCK_REALTIME, &found);
    if (now)
        *now = found.tv_sec;
    return found.tv_sec;
}
"""


def possible() -> bool:
    return shutil.which("cc") is not None


def environment(folder: Path, seconds: int) -> dict[str, str]:
    """What a process must find in its environment to be so far ahead; the library lies in the folder."""
    library = folder / "clock.so"
    if not library.exists():
        command = ["cc", "-shared", "-fPIC", "-O2", "-x", "c", "-o", str(library), "-", "-ldl"]
        subprocess.run(command, input=_SOURCE, text=True, check=True)
    return {"LD_PRELOAD": str(library), "CLOCK_AHEAD": str(seconds)}
