"""The provider as a process of its own, until its input ends or it is told to stop."""

import argparse
import asyncio
import os
import signal
import threading
from pathlib import Path

from tests.loopback.options import add_flags, from_flags
from tests.loopback.server import Provider, serve_until


async def serve(provider: Provider) -> None:
    """Serve until the standard input ends, SIGTERM or SIGINT."""
    loop = asyncio.get_running_loop()
    stopped = asyncio.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, stopped.set)

    def await_end_of_input() -> None:
        while os.read(0, 4096):
            pass
        loop.call_soon_threadsafe(stopped.set)

    # A thread, because the input may be a file or a terminal, which the loop cannot watch.
    threading.Thread(target=await_end_of_input, daemon=True).start()
    await serve_until(stopped, provider)


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.loopback", description=__doc__)
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("--log", type=Path)
    add_flags(parser)
    flags = parser.parse_args()
    asyncio.run(serve(Provider(from_flags(flags), flags.log, port=flags.port)))


if __name__ == "__main__":
    main()
