"""Endpoints: a model at a provider, and a connection to it for one request at a time."""

import re
from collections import OrderedDict
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field, replace
from decimal import Decimal
from typing import TYPE_CHECKING, Any, Protocol
from urllib.parse import urlsplit

from costpass.attempt import Usage
from costpass.attempt import usd as exact_usd
from costpass.errors import BadInputError, CostpassError, MissingExtraError
from costpass.pricing import Quote
from costpass.strategies.lm.bound import Excess, Prices, most_input
from costpass.strategies.lm.pace import Pace
from costpass.strategies.lm.usage import INPUT_CLASSES, estimated

if TYPE_CHECKING:
    from httpx2 import AsyncClient
    from pydantic_ai.models import Model

LOCAL = "local"
#: Prefixes that name a provider or its API also where requests go to another address.
PROVIDERS = frozenset(
    {
        "alibaba",
        "anthropic",
        "azure",
        "bedrock",
        "cerebras",
        "cohere",
        "deepseek",
        "fireworks",
        "gateway",
        "google",
        "google-cloud",
        "groq",
        "huggingface",
        "litellm",
        "mistral",
        "moonshotai",
        "nebius",
        "ollama",
        "openai",
        "openai-chat",
        "openai-responses",
        "openrouter",
        "ovhcloud",
        "together",
        "xai",
        "zai",
    }
)
_PROMPTS_REMEMBERED = 20_000


@dataclass(frozen=True)
class Address:
    """Where a model is: `provider:name`, or any name at an OpenAI-compatible `base_url`."""

    provider: str
    model: str
    base_url: str | None = None
    api_key: str | None = field(default=None, repr=False)

    @classmethod
    def parse(cls, model: str, *, base_url: str | None = None, api_key: str | None = None) -> "Address":
        """An address as an experiment writes it.

        >>> Address.parse("anthropic:claude-sonnet-4-5").provider
        'anthropic'
        >>> Address.parse("my-model", base_url="http://127.0.0.1:8000/v1").provider
        '127.0.0.1:8000'
        """
        prefix, colon, name = model.partition(":")
        # At a server of one's own, a colon may well be part of the name, as in llama3:8b.
        is_provider = prefix in PROVIDERS if base_url else not prefix.startswith(("/", "."))
        if colon and name and is_provider:
            return cls(prefix, name, base_url, api_key)
        if base_url is None:
            raise BadInputError(
                f"model {model!r} does not say its provider; write provider:name, such as openai:gpt-4o-mini or "
                "local:smollm2-135m, or give the base_url of an OpenAI-compatible server"
            )
        # Without what may stand before the host: a name and a password.
        return cls(urlsplit(base_url).netloc.rpartition("@")[2] or "custom", model, base_url, api_key)

    def __str__(self) -> str:
        return f"{self.provider}:{self.model}"


@dataclass(frozen=True)
class Connection:
    """A model ready for one request; `core_seconds` says what the request took where that can be known."""

    model: "Model"
    #: Its client sends requests again by itself unless told not to each time, which is slow to tell.
    retries_itself: bool
    core_seconds: Callable[[], Awaitable[float]] | None = None


class Connector(Protocol):
    """Opens connections."""

    def connection(self) -> AbstractAsyncContextManager[Connection]: ...

    async def close(self) -> None: ...


class Endpoint:
    """A model at a provider, with its prices, its pace, and what was learnt of it."""

    def __init__(
        self, address: Address, quote: Quote, connector: Connector, pace: Pace, *, core_hour_usd: Decimal | None = None
    ) -> None:
        self.address = address
        self.quote = _with_every_input_class(quote)
        self.prices = Prices(self.quote)
        self.connector = connector
        self.pace = pace
        self.core_hour_usd = core_hour_usd
        self.excess = Excess()
        #: The most output tokens that the endpoint lets one ask for, once it has said so.
        self.output_limit: int | None = None
        self._inputs: OrderedDict[bytes, Usage] = OrderedDict()
        self._replies = 0
        self._mean_output = 0.0

    def expected(self, prompt: bytes, prompt_bytes: int) -> tuple[Usage, Decimal]:
        """What a request will use and cost, going by what its like have."""
        usage = estimated(prompt_bytes, round(self._mean_output), self.alike(prompt))
        return usage, exact_usd(self.quote.bill(usage.model_copy(update={"quantities": {}})).usd)

    def remember(self, prompt: bytes, usage: Usage) -> None:
        """Keeps what a prompt used: the same prompt, cut off another time, used as much input."""
        self._replies += 1
        self._mean_output += ((usage.output_tokens or 0) - self._mean_output) / self._replies
        self._inputs[prompt] = usage
        self._inputs.move_to_end(prompt)
        if len(self._inputs) > _PROMPTS_REMEMBERED:
            self._inputs.popitem(last=False)

    def alike(self, prompt: bytes) -> Usage | None:
        """What the same prompt used at another time."""
        return self._inputs.get(prompt)

    def learn(self, usage: Usage, prompt_bytes: int, max_tokens: int | None) -> None:
        """Takes note of a request that read or wrote more than could be foreseen."""
        read = sum(getattr(usage, name) or 0 for name in INPUT_CLASSES)
        self.excess.input = max(self.excess.input, Decimal(read) / most_input(prompt_bytes))
        if max_tokens:
            self.excess.output = max(self.excess.output, Decimal(usage.output_tokens or 0) / max_tokens)


def _with_every_input_class(quote: Quote) -> Quote:
    """A price that says nothing of cached input takes it for input: too dear rather than free, or an error after it."""
    tokens = dict(quote.rates.tokens)
    if "input" in tokens:
        for name in ("cache_read", "cache_write", "cache_write_1h"):
            tokens.setdefault(name, tokens["input"])
    return replace(quote, rates=replace(quote.rates, tokens=tokens))


class Remote:
    """Connections to a provider's API: all of them share one client."""

    def __init__(self, address: Address) -> None:
        self._model = build_model(address)
        self._retries_itself = not tell_not_to_retry(self._model)
        self._open = AsyncExitStack()
        self._entered = False

    @asynccontextmanager
    async def connection(self) -> AsyncIterator[Connection]:
        if not self._entered:
            self._entered = True
            await self._open.enter_async_context(self._model)
        yield Connection(self._model, self._retries_itself)

    async def close(self) -> None:
        await self._open.aclose()


def build_model(address: Address, *, reuse_connections: bool = True) -> "Model":
    """The client for an address; says in words what is missing: the extra, the provider's package, the key."""
    try:
        from pydantic_ai.exceptions import UserError
    except ImportError:
        raise MissingExtraError("asking a language model", "lm") from None
    try:
        return _at_base_url(address, reuse_connections) if address.base_url else _at_its_provider(address)
    except UserError as error:
        raise CostpassError(f"{address}: {_missing_key(error) or _first_sentence(error)}") from None
    except ImportError as error:
        if address.base_url or address.provider.split("-")[0] in ("openai", "anthropic", "google"):
            raise MissingExtraError(str(address), "lm") from None
        raise CostpassError(f"{address}: its provider's package is not installed ({_first_sentence(error)})") from None


def tell_not_to_retry(model: "Model") -> bool:
    """Has the model's client send each request once, as its retries would be neither counted nor booked."""
    client: Any = getattr(model, "client", None)
    if not isinstance(getattr(client, "max_retries", None), int):
        return False
    client.max_retries = 0
    return True


def _at_its_provider(address: Address) -> "Model":
    from pydantic_ai.models import infer_model
    from pydantic_ai.providers import Provider, infer_provider_class

    if address.api_key is None:
        return infer_model(str(address))

    def with_key(name: str) -> Provider[Any]:
        kind: Callable[..., Provider[Any]] = infer_provider_class(name)
        return kind(api_key=address.api_key)

    return infer_model(str(address), with_key)


def _at_base_url(address: Address, reuse_connections: bool) -> "Model":
    if address.provider == "anthropic":
        from pydantic_ai.models.anthropic import AnthropicModel
        from pydantic_ai.providers.anthropic import AnthropicProvider

        return AnthropicModel(
            address.model,
            provider=AnthropicProvider(base_url=_without_version(address), api_key=address.api_key or "none"),
        )
    if address.provider == "google":
        from pydantic_ai.models.google import GoogleModel
        from pydantic_ai.providers.google import GoogleProvider

        return GoogleModel(
            address.model,
            provider=GoogleProvider(base_url=_without_version(address), api_key=address.api_key or "none"),
        )
    from pydantic_ai.models.openai import OpenAIChatModel, OpenAIResponsesModel
    from pydantic_ai.providers.openai_compatible import OpenAICompatibleProvider

    provider = OpenAICompatibleProvider(
        address.provider,
        base_url=str(address.base_url),
        api_key=address.api_key or "none",
        http_client=None if reuse_connections else _client_without_memory(),
    )
    if address.provider == "openai-responses":
        return OpenAIResponsesModel(address.model, provider=provider)
    return OpenAIChatModel(address.model, provider=provider)


def _without_version(address: Address) -> str:
    """These clients add the version themselves, while one address is to serve all of them."""
    return str(address.base_url).rstrip("/").removesuffix("/v1")


def _client_without_memory() -> "AsyncClient":
    """A client that opens a connection for each request: llama.cpp's server closes them without saying so."""
    from httpx2 import AsyncClient, Limits, Timeout

    return AsyncClient(limits=Limits(max_keepalive_connections=0), timeout=Timeout(600, connect=5))


def _missing_key(error: Exception) -> str | None:
    names = re.findall(r"`([A-Z][A-Z0-9_]*(?:KEY|TOKEN))`", str(error))
    if not names:
        return None
    return f"the environment variable {' or '.join(dict.fromkeys(names))} is not set; the model needs its key there"


def _first_sentence(error: Exception) -> str:
    return str(error).strip().split("\n")[0]
