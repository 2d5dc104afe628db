"""What went wrong at the provider, and whether to try again."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

from costpass.errors import CostpassError

if TYPE_CHECKING:
    from pydantic_ai.exceptions import ModelAPIError


@dataclass(frozen=True)
class Broken:
    """One failed request, told apart by what can be done about it."""

    #: The record's category: rate_limit, auth, provider_error, network, rejected …
    failure: str
    message: str
    #: Worth sending again as it is.
    again: bool
    #: No request to this endpoint can succeed: a wrong key, an unknown model, an empty account.
    hopeless: bool = False
    retry_after_s: float | None = None


class FaultError(CostpassError):
    """An attempt that the infrastructure broke."""

    def __init__(self, broken: Broken) -> None:
        super().__init__(broken.message)
        self.broken = broken


class CapReachedError(CostpassError):
    """An attempt whose cap cannot carry its next request."""


def classify(error: "ModelAPIError") -> Broken:
    """A provider's error as the record names it."""
    from pydantic_ai import exceptions as known

    message = _sentence(error)
    if isinstance(error, known.ModelRateLimitError):
        return Broken("rate_limit", message, again=True, retry_after_s=_retry_after_s(error))
    if isinstance(error, known.ModelQuotaExceededError):
        return Broken("quota", message, again=False, hopeless=True)
    if isinstance(error, known.ModelAuthenticationError):
        return Broken("auth", message, again=False, hopeless=True)
    if isinstance(error, known.ModelNotFoundError):
        return Broken("unknown_model", message, again=False, hopeless=True)
    if isinstance(error, known.ModelRequestRejectedError):
        return Broken("rejected", message, again=False)
    if isinstance(error, known.ModelTimeoutError | known.ModelRequestTimeout):
        return Broken("provider_timeout", message, again=True)
    if isinstance(error, known.ModelConnectionError):
        return Broken("network", message, again=True)
    return Broken("provider_error", message, again=_is_passing(error), retry_after_s=error.retry_after)


def _retry_after_s(error: "ModelAPIError") -> float | None:
    """How long the provider asked us to wait; some say so in fractions of a second, which the model layer leaves."""
    if error.retry_after is not None:
        return error.retry_after
    try:
        return float((getattr(error, "headers", None) or {})["retry-after"])
    except (KeyError, ValueError):
        return None


def _is_passing(error: "ModelAPIError") -> bool:
    """Errors of the server pass; a request that it calls wrong stays wrong."""
    status = getattr(error, "status_code", None)
    return status is None or status >= 500 or status in (408, 409, 425, 429)


def _sentence(error: "ModelAPIError") -> str:
    body = error.body
    inner = body.get("error", body) if isinstance(body, dict) else body
    said = inner.get("message") if isinstance(inner, dict) else None
    status = getattr(error, "status_code", None)
    text = str(said or error.message).strip().replace("\n", " ")[:300]
    return f"{error.model_name}: {f'HTTP {status}: ' if status else ''}{text}"
