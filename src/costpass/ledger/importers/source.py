"""A file to import from, read within bounds whatever it holds."""

import gzip
import io
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
_HEAD_BYTES = 64 * 1024
_GZIP_MAGIC = b"\x1f\x8b"


class Source:
    """One file, gzipped or not. Nothing is read before it is asked for."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.bytes_read = 0

    @cached_property
    def is_gzipped(self) -> bool:
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

    @property
    def beginning(self) -> "Source":
        """The whole lines of the head, as a source of their own."""
        return _Beginning(self)

    @contextmanager
    def open(self) -> Iterator[IO[bytes]]:
        """The content as bytes, unzipped."""
        with _sentences(self.path), self.path.open("rb") as raw:
            if not self.is_gzipped:
                yield raw
                return
            with gzip.GzipFile(fileobj=raw) as unzipped:
                yield unzipped  # type: ignore[misc]  # GzipFile is a BufferedIOBase in all but its annotation

    def lines(self) -> Iterator[tuple[int, bytes]]:
        """Numbered lines that are not blank. One over 64 MiB is an error rather than memory."""
        with self.open() as file:
            number = 0
            while line := file.readline(LONGEST_LINE_BYTES + 1):
                number += 1
                if len(line) > LONGEST_LINE_BYTES:
                    raise BadInputError(f"{self.path}: line {number} is over 64 MiB; this is not a log of attempts")
                self.bytes_read += len(line)
                if line.strip():
                    yield number, line

    def json_rows(self) -> Iterator[Row]:
        """Each line as JSON; a line that is none becomes a row with an error."""
        for number, line in self.lines():
            where = f"{self.name}:{number}"
            try:
                yield Row(where, json.loads(line))
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
            return json.loads(content)
        except (ValueError, RecursionError) as error:
            raise BadInputError(f"{self.path}: not a whole JSON document: {_short(error)}") from None

    @cached_property
    def first(self) -> dict[str, Any]:
        """The first JSON object among the lines, or nothing: what a sniffer of JSON lines looks at."""
        for line in io.BytesIO(self.head).readlines():
            if not line.strip():
                continue
            try:
                value = json.loads(line)
            except (ValueError, RecursionError):
                return {}
            return value if isinstance(value, dict) else {}
        return {}

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


class _Beginning(Source):
    """The whole lines at the start of another source."""

    def __init__(self, whole: Source) -> None:
        super().__init__(whole.path)
        self._head = whole.head

    @contextmanager
    def open(self) -> Iterator[IO[bytes]]:
        cut = self._head.rfind(b"\n") + 1
        yield io.BytesIO(self._head[:cut] if cut and len(self._head) == _HEAD_BYTES else self._head)


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
