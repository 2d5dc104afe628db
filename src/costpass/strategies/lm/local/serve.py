"""The process that serves one GGUF file over HTTP on the loopback, until its standard input is closed.

It answers in JSON lines on standard output: `{"port": …}` once it is ready or `{"error": …}` if it never will be, then
one line for each line it reads: `cpu` asks for the CPU seconds it has used, `settle` for the same once it is idle.
"""

import argparse
import json
import os
import sys
import threading
import time
import urllib.parse
import urllib.request
from pathlib import Path
from queue import SimpleQueue
from typing import IO, Any

_ERRORS_ONLY = 1
_POLL_S = 0.02
# No proxy from the environment may come between a process and itself.
_DIRECTLY = urllib.request.build_opener(urllib.request.ProxyHandler({}))


def main() -> None:
    options = _options()
    answers = _private_stdout()
    orders: SimpleQueue[str] = SimpleQueue()
    threading.Thread(target=_listen, args=(orders,), daemon=True).start()
    try:
        # Here, because standard output must be out of the library's reach before it is loaded.
        import xllamacpp

        # The constructor returns once the weights are loaded. It holds the GIL till then, so `_listen` notices a
        # parent that dies meanwhile only at the end of the loading.
        server = xllamacpp.Server(_parameters(xllamacpp, options))
        address = server.listening_address
        _await_health(address)
    except Exception as error:  # noqa: BLE001 - whatever it is, the parent must hear of it.
        _answer(answers, {"error": str(error) or type(error).__name__})
        os._exit(1)
    _answer(answers, {"port": urllib.parse.urlsplit(address).port})
    while True:
        if orders.get() == "settle":
            _await_idle(address)
        _answer(answers, {"cpu_s": time.process_time()})


def _listen(orders: SimpleQueue[str]) -> None:
    """Passes on the parent's lines, and ends the process with them: whoever killed the parent, its stdin closes."""
    for line in sys.stdin:
        orders.put(line.strip())
    # Without the server's own farewell, which waits for requests under way.
    os._exit(0)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="Serve one GGUF file on the loopback until stdin is closed.")
    parser.add_argument("gguf", type=Path)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--context", type=int, default=4096, help="tokens of prompt and answer together")
    return parser.parse_args()


def _private_stdout() -> IO[str]:
    """Standard output for our answers alone: what the library prints goes to standard error."""
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    return answers


def _parameters(xllamacpp: Any, options: argparse.Namespace) -> Any:
    parameters = xllamacpp.CommonParams()
    parameters.model.path = str(options.gguf)
    # Answers name the model, and the default name is the file's path on this machine.
    parameters.model_alias = {options.gguf.stem}
    parameters.hostnames = ["127.0.0.1"]
    parameters.port = 0
    parameters.cpuparams.n_threads = options.threads
    parameters.cpuparams_batch.n_threads = options.threads
    # A request whose client hung up is dropped between two batches: the default of 2048 tokens can take a minute.
    parameters.n_batch = 512
    # One request at a time, none of it taken over from the one before: what a request costs and says then depends on
    # that request alone. (With prompts cached, 7 of 20 replies of the same seed were others.)
    parameters.n_parallel = 1
    parameters.n_ctx = options.context
    parameters.cache_prompt = False
    parameters.cache_ram_mib = 0
    parameters.offline = True
    parameters.ui = False
    parameters.cors_origins = ""
    parameters.verbosity = _ERRORS_ONLY
    return parameters


def _await_health(address: str) -> None:
    while _get(address, "/health").get("status") != "ok":
        time.sleep(_POLL_S)


def _await_idle(address: str) -> None:
    """Returns when no request is under way. One whose client hung up is noticed by the server only after a while."""
    while any(slot["is_processing"] for slot in _get(address, "/slots")):
        time.sleep(_POLL_S)


def _get(address: str, path: str) -> Any:
    with _DIRECTLY.open(address + path, timeout=60) as response:
        return json.load(response)


def _answer(answers: IO[str], what: dict[str, Any]) -> None:
    answers.write(json.dumps(what) + "\n")
    answers.flush()


if __name__ == "__main__":
    main()
