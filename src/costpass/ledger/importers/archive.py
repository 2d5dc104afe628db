"""A zip archive to import from, read within bounds whatever it holds."""

import tempfile
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from typing import IO, Any

from costpass.errors import BadInputError
from costpass.ledger.importers.source import Source, parsed

LARGEST_ARCHIVE_BYTES = 4 * 1024**3
LARGEST_MEMBER_BYTES = 1024**3
#: From here on an archive that unpacks to more than `HIGHEST_RATIO` times its size is taken for a bomb.
LARGEST_TRUSTED_BYTES = 100 * 1000**2
HIGHEST_RATIO = 1000
_CHUNK_BYTES = 64 * 1024


@contextmanager
def opened(source: Source) -> Iterator[zipfile.ZipFile]:
    """The archive, once what it declares to unpack to is known to be reasonable."""
    with _seekable(source) as file:
        try:
            archive = zipfile.ZipFile(file)
        except (zipfile.BadZipFile, ValueError, NotImplementedError) as error:
            raise BadInputError(f"{source.path}: not a whole zip archive, or none at all ({error})") from None
        _refuse_bomb(source, archive.infolist())
        yield archive


def json_member(archive: zipfile.ZipFile, name: str) -> Any:
    """A member as JSON; whatever cannot be read of it is a ValueError."""
    try:
        # In pieces, since then a member cannot unpack to more than the size it declares.
        with archive.open(name) as file:
            content = b"".join(iter(lambda: file.read(_CHUNK_BYTES), b""))
        return parsed(content)
    except Exception as error:  # noqa: BLE001 - every decompressor has exceptions of its own
        raise ValueError(f"cannot be read: {error}") from None


@contextmanager
def _seekable(source: Source) -> Iterator[IO[bytes]]:
    """A file in which one can jump; a gzipped one is unpacked to disk for that."""
    with source.open() as file:
        if not source.is_gzipped:
            yield file
            return
        with tempfile.TemporaryFile() as unpacked:
            while chunk := file.read(_CHUNK_BYTES):
                unpacked.write(chunk)
                if unpacked.tell() > LARGEST_MEMBER_BYTES:
                    raise BadInputError(f"{source.path}: over {LARGEST_MEMBER_BYTES} bytes; unzip the .gz first")
            yield unpacked


def _refuse_bomb(source: Source, members: list[zipfile.ZipInfo]) -> None:
    unpacked = sum(member.file_size for member in members)
    packed = sum(member.compress_size for member in members)
    largest = max((member.file_size for member in members), default=0)
    blown_up = unpacked > LARGEST_TRUSTED_BYTES and unpacked > HIGHEST_RATIO * packed
    if blown_up or unpacked > LARGEST_ARCHIVE_BYTES or largest > LARGEST_MEMBER_BYTES:
        raise BadInputError(f"{source.path}: {packed} bytes that unpack to {unpacked} are no log of attempts; not read")
