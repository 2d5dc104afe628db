"""costpass: what does a correct answer cost, with which model, agent or tool, and how sure are we?"""

from typing import TYPE_CHECKING, Any

from costpass.version import __version__

__all__ = ["Attempt", "__version__", "load", "run"]

if TYPE_CHECKING:
    from costpass.api import load as load
    from costpass.api import run as run
    from costpass.attempt import Attempt as Attempt


def __getattr__(name: str) -> Any:
    """Loads the API when it is first used, so that `import costpass` stays light."""
    if name in ("load", "run"):
        from costpass import api

        return getattr(api, name)
    if name == "Attempt":
        from costpass.attempt import Attempt

        return Attempt
    raise AttributeError(f"module 'costpass' has no attribute {name!r}")
