"""A file to import from, read within bounds whatever it holds."""

import gzip
import json
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cached_property
from pathlib import Path
from typing import IO, Any

from costpass.errors import BadInputError
from costpass.ledger.importers.protocol import Row

LONGEST_LINE_BYTES = 64 * 1024 * 1024
LARGEST_DOCUMENT_BYTES = 256 * 1024 * 1024
MOST_VALUES = 10_000_000
_HEAD_BYTES = 64 * 1024
_GZIP_MAGIC = b"\x1f\x8b"


class Source:
    """One file, gzipped or not. Nothing is read before it is asked for."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.bytes_read = 0

    @cached_property
    def is_gzipped(self) -> bool:
        require_file(self.path)
        with _sentences(self.path), self.path.open("rb") as file:
            return file.read(2) == _GZIP_MAGIC

    @property
    def name(self) -> str:
        """The file's name without `.gz`."""
        return self.path.name.removesuffix(".gz")

    @property
    def suffix(self) -> str:
        return Path(self.name).suffix.lower()

    @property
    def stem(self) -> str:
        """The file's name without its endings."""
        return self.name.split(".", 1)[0]

    @cached_property
    def head(self) -> bytes:
        """The first 64 KiB."""
        with self.open() as file:
            return file.read(_HEAD_BYTES)

    @contextmanager
    def open(self) -> Iterator[IO[bytes]]:
        """The content as bytes, unzipped."""
        with _sentences(self.path), self.path.open("rb") as raw:
            if not self.is_gzipped:
                yield raw
                return
            with gzip.GzipFile(fileobj=raw) as unzipped:
                yield unzipped  # type: ignore[misc]  # GzipFile is a BufferedIOBase in all but its annotation

    def lines(self, *, blank: bool = False) -> Iterator[tuple[int, bytes]]:
        """Numbered lines, blank ones only if asked for. One over 64 MiB is an error rather than memory."""
        with self.open() as file:
            number = 0
            while line := file.readline(LONGEST_LINE_BYTES + 1):
                number += 1
                if len(line) > LONGEST_LINE_BYTES:
                    raise BadInputError(f"{self.path}: line {number} is over 64 MiB; this is not a log of attempts")
                self.bytes_read += len(line)
                if blank or line.strip():
                    yield number, line

    def json_rows(self) -> Iterator[Row]:
        """Each line as JSON; a line that is none becomes a row with an error."""
        for number, line in self.lines():
            where = f"{self.name}:{number}"
            try:
                yield Row(where, parsed(line))
            except (ValueError, RecursionError) as error:
                yield Row(where, line.decode(errors="replace")[:2000], error=f"not JSON: {_short(error)}")

    @cached_property
    def document(self) -> Any:
        """The whole file as one JSON document."""
        with self.open() as file:
            content = file.read(LARGEST_DOCUMENT_BYTES + 1)
        if len(content) > LARGEST_DOCUMENT_BYTES:
            raise BadInputError(
                f"{self.path}: over 256 MiB as one JSON document; split it, or convert it to JSON lines"
            )
        self.bytes_read = len(content)
        try:
            return parsed(content)
        except (ValueError, RecursionError) as error:
            raise BadInputError(f"{self.path}: not a whole JSON document: {_short(error)}") from None

    @cached_property
    def first(self) -> dict[str, Any]:
        """The first JSON object among the lines, or nothing: what a sniffer of JSON lines looks at."""
        if self.head.lstrip()[:1] != b"{":
            return {}
        try:
            # A row that carries its transcript is often longer than the head.
            value = parsed(next(line for _, line in self.lines()))
        except (ValueError, RecursionError, StopIteration, BadInputError):
            return {}
        return value if isinstance(value, dict) else {}

    @cached_property
    def document_or_none(self) -> Any:
        """The JSON document, or None where the file is no such thing: what a sniffer of documents looks at."""
        if self.head.lstrip()[:1] not in (b"{", b"["):
            return None
        try:
            return self.document
        except BadInputError:
            return None

    def sibling(self, *parts: str) -> Path:
        """A file beside this one."""
        return self.path.parent.joinpath(*parts)


def parsed(content: bytes) -> Any:
    """JSON, unless it is a heap of tiny values, which take fifty times the room of their text."""
    if len(content) > MOST_VALUES and sum(map(content.count, (b",", b"[", b"{"))) > MOST_VALUES:
        raise ValueError(f"over {MOST_VALUES:,} values in one piece; split it, or convert it to JSON lines")
    return json.loads(content)


def require_file(path: Path) -> None:
    """A log is read more than once, so a pipe would be waited for without end."""
    if path.exists() and not path.is_file() and not path.is_dir():
        raise BadInputError(f"{path}: a pipe or device, which can be read only once; save it to a file first")


@contextmanager
def _sentences(path: Path) -> Iterator[None]:
    """Turns what a bad file raises into one sentence."""
    try:
        yield
    except OSError as error:
        raise BadInputError(f"{path}: {error.strerror or error}") from error
    except (EOFError, zlib.error) as error:
        raise BadInputError(f"{path}: the gzip stream is broken or cut short ({error})") from error


def _short(error: Exception) -> str:
    return "nested too deeply" if isinstance(error, RecursionError) else str(error)
