"""Functions that an experiment names: `file.py:function` beside the experiment, or `module:function`."""

import hashlib
import importlib
import importlib.util
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType
from typing import Any

from costpass.errors import BadInputError, did_you_mean


def load_callable(reference: str, folder: Path | None) -> Callable[..., Any]:
    """The function that `reference` names; `folder` is where files and modules are looked for first."""
    place, _, name = reference.rpartition(":")
    if not place or not name:
        raise BadInputError(f"{reference!r} names no function; write 'file.py:function' or 'module:function'")
    folder = (folder or Path.cwd()).resolve()
    with _first_on_path(folder):
        module = _from_file(folder / place, place) if place.endswith(".py") else _by_name(place)
    found: Any = module
    for step in name.split("."):
        if not hasattr(found, step):
            known = [known for known in vars(found) if callable(getattr(found, known)) and not known.startswith("_")]
            raise BadInputError(f"{place} has no function {name!r}{did_you_mean(step, known)}")
        found = getattr(found, step)
    if not callable(found):
        raise BadInputError(f"{reference} is not a function but a {type(found).__name__}")
    return found  # type: ignore[no-any-return]


@contextmanager
def _first_on_path(folder: Path) -> Iterator[None]:
    sys.path.insert(0, str(folder))
    try:
        yield
    finally:
        sys.path.remove(str(folder))


def _from_file(path: Path, written: str) -> ModuleType:
    if not path.is_file():
        raise BadInputError(f"there is no file {written} in {path.parent}")
    digest = hashlib.sha256(str(path).encode()).hexdigest()[:12]
    spec = importlib.util.spec_from_file_location(f"costpass_file_{path.stem}_{digest}", path)
    if spec is None or spec.loader is None:
        raise BadInputError(f"{written} cannot be loaded as Python")
    module = importlib.util.module_from_spec(spec)
    # Dataclasses and pickle look a class's module up by name.
    sys.modules[spec.name] = module
    try:
        spec.loader.exec_module(module)
    except (Exception, SystemExit) as error:
        del sys.modules[spec.name]
        raise _failed_import(written, error) from error
    return module


def _by_name(name: str) -> ModuleType:
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError as error:
        if error.name and (name == error.name or name.startswith(f"{error.name}.")):
            raise BadInputError(f"there is no module {name!r}; for a file write its name with .py") from None
        raise _failed_import(name, error) from error
    except (Exception, SystemExit) as error:
        raise _failed_import(name, error) from error


def _failed_import(place: str, error: BaseException) -> BadInputError:
    said = str(error).strip().partition("\n")[0]
    return BadInputError(f"{place} cannot be imported: {type(error).__name__}{': ' + said if said else ''}")
