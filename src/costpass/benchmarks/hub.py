"""Rows of a dataset on the Hugging Face hub, or in its local cache."""

import json
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any, Self

from costpass.benchmarks.files import Rows, short_digest
from costpass.benchmarks.plain import plain
from costpass.errors import BadInputError, MissingExtraError

PREFIX = "hf:"
_PROBE_TIMEOUT_S = 5


@dataclass(frozen=True)
class HubRef:
    """A split of a dataset; without a split, the only one that it has."""

    dataset: str
    config: str | None = None
    split: str | None = None

    @classmethod
    def parse(cls, name: str) -> Self:
        """`owner/dataset`, `owner/dataset/split` or `owner/dataset/config/split`."""
        parts = name.split("/")
        if not 2 <= len(parts) <= 4 or not all(parts):
            raise BadInputError(
                f"{PREFIX}{name}: expected {PREFIX}owner/dataset/split or /config/split after the dataset"
            )
        config = parts[2] if len(parts) == 4 else None
        return cls("/".join(parts[:2]), config, parts[-1] if len(parts) > 2 else None)

    def __str__(self) -> str:
        return PREFIX + "/".join(part for part in (self.dataset, self.config, self.split) if part)


def read_hub(ref: HubRef, way_out: str) -> Rows:
    """All rows of a split, as JSON values. `way_out` says what to do where they cannot be had."""
    try:
        datasets = import_module("datasets")
    except ImportError:
        raise MissingExtraError(f"{ref}: fetching a dataset ({way_out})", "hf") from None
    reachable = Path(ref.dataset).exists() or _is_reachable()
    try:
        with _cache_only(not reachable):
            loaded = datasets.load_dataset(ref.dataset, ref.config, split=ref.split)
    except Exception as error:
        # The library raises errors of its own, of the hub's, of HTTP's and of Arrow's: all mean that there are no rows.
        reason = _first_line(error) if reachable else "the hub does not answer, and there is no copy in its cache"
        raise BadInputError(f"{ref}: the dataset cannot be fetched ({reason}); {way_out}") from error
    if not isinstance(loaded, datasets.Dataset):
        loaded = _only_split(loaded, ref)
    rows = [{str(name): plain(value) for name, value in row.items()} for row in loaded.to_list()]
    return Rows(rows, str(ref), f"{ref} sha256:{short_digest(json.dumps(rows, sort_keys=True).encode())}")


def _only_split(splits: Any, ref: HubRef) -> Any:
    if len(splits) != 1:
        raise BadInputError(f"{ref}: say which split: {', '.join(f'{ref}/{split}' for split in splits)}")
    return next(iter(splits.values()))


@contextmanager
def _cache_only(wanted: bool) -> Iterator[None]:
    """A hub that does not answer is tried for half a minute; told that it is offline, the library asks its cache."""
    hub_settings: Any = import_module("huggingface_hub.constants")
    settings: Any = import_module("datasets.config")
    before = hub_settings.HF_HUB_OFFLINE, settings.HF_HUB_OFFLINE
    if wanted:
        hub_settings.HF_HUB_OFFLINE = settings.HF_HUB_OFFLINE = True
    try:
        yield
    finally:
        hub_settings.HF_HUB_OFFLINE, settings.HF_HUB_OFFLINE = before


def _is_reachable() -> bool:
    settings: Any = import_module("huggingface_hub.constants")
    if settings.HF_HUB_OFFLINE:
        return False
    request = urllib.request.Request(settings.ENDPOINT, method="HEAD")
    try:
        with urllib.request.urlopen(request, timeout=_PROBE_TIMEOUT_S):
            return True
    except urllib.error.HTTPError:
        return True
    except (OSError, ValueError):
        return False


def _first_line(error: Exception) -> str:
    return (str(error).strip() or type(error).__name__).splitlines()[0][:300]
