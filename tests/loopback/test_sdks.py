"""The vendors' own clients accept the loopback provider and read its usage, class by class."""

import asyncio
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from pydantic_ai.direct import model_request, model_request_stream
from pydantic_ai.exceptions import ModelConnectionError
from pydantic_ai.messages import ModelRequest, ModelResponse
from pydantic_ai.models import Model
from pydantic_ai.models.anthropic import AnthropicModel
from pydantic_ai.models.google import GoogleModel
from pydantic_ai.models.openai import OpenAIChatModel, OpenAIResponsesModel
from pydantic_ai.providers.anthropic import AnthropicProvider
from pydantic_ai.providers.google import GoogleProvider
from pydantic_ai.providers.openai import OpenAIProvider
from pydantic_ai.settings import ModelSettings
from tests.loopback import Loopback, provider

QUESTION = "What is 37 + 45? Answer between <answer> and </answer>."
MODELS: dict[str, Callable[[str, str], Model[Any]]] = {
    "chat": lambda url, name: OpenAIChatModel(name, provider=OpenAIProvider(f"{url}/v1", "key")),
    "messages": lambda url, name: AnthropicModel(name, provider=AnthropicProvider(base_url=url, api_key="key")),
    "responses": lambda url, name: OpenAIResponsesModel(name, provider=OpenAIProvider(f"{url}/v1", "key")),
    "gemini": lambda url, name: GoogleModel(name, provider=GoogleProvider(base_url=url, api_key="key")),
}


@pytest.fixture(scope="module")
def cached(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Loopback]:
    """A provider whose prompts are half cached."""
    with provider(tmp_path_factory.mktemp("cached"), cache_read=0.5, cache_write=0.25) as loopback:
        yield loopback


def ask_sdk(url: str, dialect: str, *, stream: bool, max_tokens: int | None = None) -> ModelResponse:
    """What the vendor's own client makes of the reply."""

    async def ask() -> ModelResponse:
        settings = ModelSettings() if max_tokens is None else ModelSettings(max_tokens=max_tokens)
        messages = [ModelRequest.user_text_prompt(QUESTION)]
        async with MODELS[dialect](url, "sim-p100-r6-w10") as model:
            if not stream:
                return await model_request(model, messages, model_settings=settings)
            async with model_request_stream(model, messages, model_settings=settings) as streamed:
                async for _ in streamed:
                    pass
                return streamed.get()

    return asyncio.run(ask())


@pytest.mark.parametrize("stream", [True, False], ids=["streamed", "whole"])
@pytest.mark.parametrize("dialect", MODELS)
def test_each_vendors_client_reads_the_answer_and_every_class_of_usage(
    cached: Loopback, dialect: str, stream: bool
) -> None:
    response = ask_sdk(cached.url, dialect, stream=stream)
    row = cached.requests()[-1]
    billed, usage = row["billed"], response.usage
    assert response.text == "Let me work it out step by step: Let <answer>82</answer>"
    assert response.finish_reason == "stop"
    assert (row["dialect"], row["stream"], row["status"], row["fault"]) == (dialect, stream, 200, None)
    assert billed["cache_read"] > 0
    assert (billed["cache_write"] > 0) == (dialect != "gemini")
    assert usage.input_tokens == billed["input"] + billed["cache_read"] + billed["cache_write"]
    assert (usage.cache_read_tokens, usage.cache_write_tokens) == (billed["cache_read"], billed["cache_write"])
    assert (usage.output_tokens, usage.output_reasoning_tokens) == (billed["output"], billed["reasoning"]) == (16, 6)


@pytest.mark.parametrize("stream", [True, False], ids=["streamed", "whole"])
@pytest.mark.parametrize("dialect", MODELS)
def test_a_limit_on_output_ends_the_reply_there_and_says_so(cached: Loopback, dialect: str, stream: bool) -> None:
    response = ask_sdk(cached.url, dialect, stream=stream, max_tokens=9)
    row = cached.requests()[-1]
    assert (response.text, response.finish_reason) == ("Let me work", "length")
    assert response.usage.output_tokens == row["billed"]["output"] == row["max_tokens"] == 9


@pytest.mark.parametrize("dialect", MODELS)
def test_after_a_late_cut_client_and_provider_agree_on_the_bill(tmp_path: Path, dialect: str) -> None:
    async def ask(url: str) -> int:
        async with (
            MODELS[dialect](url, "sim-w10") as model,
            model_request_stream(model, [ModelRequest.user_text_prompt(QUESTION)]) as streamed,
        ):
            with pytest.raises(ModelConnectionError):
                async for _ in streamed:
                    pass
            return streamed.get().usage.output_tokens

    with provider(tmp_path, cut=1.0, cut_late=1.0) as loopback:
        assert asyncio.run(ask(loopback.url)) == 10
        (row,) = loopback.requests()
    assert (row["fault"], row["billed"]["output"]) == ("cut_late", 10)
