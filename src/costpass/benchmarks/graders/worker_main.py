"""A worker process: `python -m … module:function` answers JSON lines of arguments with JSON lines of results."""

import ctypes
import importlib
import json
import os
import queue
import resource
import signal
import sys
import threading
from typing import IO, Any

_MEMORY_BYTES = 4 * 1024**3
_PR_SET_PDEATHSIG = 1


def _die_with_parent() -> None:
    """Has the kernel end this process with its parent: a call of C code may keep every thread here from noticing."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)


def _private_output() -> IO[str]:
    """The pipe to the parent, where nothing that a library prints can get in."""
    pipe = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    return pipe


def _requests() -> "queue.SimpleQueue[dict[str, Any]]":
    requests: queue.SimpleQueue[dict[str, Any]] = queue.SimpleQueue()

    def listen() -> None:
        for line in sys.stdin:
            requests.put(json.loads(line))
        # The parent is gone or has let go: end at once, even in the middle of a request.
        os._exit(0)

    threading.Thread(target=listen, daemon=True).start()
    return requests


def main() -> None:
    _die_with_parent()
    output = _private_output()
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_AS, (_MEMORY_BYTES, _MEMORY_BYTES))
    module, _, name = sys.argv[1].partition(":")
    home = importlib.import_module(module)
    function = getattr(home, name)
    getattr(home, "prepare", lambda: None)()
    requests = _requests()
    print("ready", file=output, flush=True)
    while True:
        request = requests.get()
        # The same where the kernel does not know of parents: processor time beyond any that the caller would wait for.
        signal.setitimer(signal.ITIMER_PROF, 2 * request["timeout_s"] + 1)
        result = function(*request["arguments"])
        signal.setitimer(signal.ITIMER_PROF, 0)
        print(json.dumps(result), file=output, flush=True)


if __name__ == "__main__":
    main()
