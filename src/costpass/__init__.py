"""costpass: what does a correct answer cost, with which model, agent or tool, and how sure are we?"""

from typing import TYPE_CHECKING, Any

from costpass.version import __version__

__all__ = ["Attempt", "__version__", "load"]

if TYPE_CHECKING:
    from costpass.api import load as load
    from costpass.attempt import Attempt as Attempt


def __getattr__(name: str) -> Any:
    """Loads the API when it is first used, so that `import costpass` stays light."""
    if name == "load":
        from costpass.api import load

        return load
    if name == "Attempt":
        from costpass.attempt import Attempt

        return Attempt
    raise AttributeError(f"module 'costpass' has no attribute {name!r}")
