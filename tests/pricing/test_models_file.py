"""models.yml: units said once, keys spelled right, decimals exact, and AILANG's own file read as it is."""

from datetime import date
from decimal import Decimal
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from costpass.attempt import Usage
from costpass.errors import BadInputError
from costpass.pricing import PriceBook
from costpass.pricing.models_file import ModelEntry, read_models_file

AILANG = Path(__file__).parents[1] / "data" / "ailang" / "models.yml"


def read(folder: Path, text: str) -> dict[str, list[ModelEntry]]:
    path = folder / "models.yml"
    path.write_text(text)
    return read_models_file(path)


def complaint(folder: Path, text: str) -> str:
    with pytest.raises(BadInputError) as raised:
        read(folder, text)
    return str(raised.value)


@given(st.decimals(0, 1000, places=6, allow_nan=False, allow_infinity=False))
def test_per_thousand_and_per_million_are_the_same_price_in_other_words(price: Decimal) -> None:
    per_million = ModelEntry.model_validate({"usd_per_million": {"input": price * 1000, "output": 1}})
    per_1k = ModelEntry.model_validate({"usd_per_1k": {"input": price, "output": Decimal("0.001")}})
    assert per_million.rates() == per_1k.rates()


def test_every_key_of_an_entry_is_read(tmp_path: Path) -> None:
    text = """
models:
  my-model:
    provider: me
    usd_per_million: {input: 0.5, output: 2, cache_read: 0.05, cache_write: 0.6, cache_write_1h: 1, reasoning: 3}
    tiers: [{above_input_tokens: 200000, usd_per_million: {input: 1, output: 3}}]
    quantities: {web_searches: 0.01}
    usd_per_request: 0.005
    aliases: [my-model-2026-01-01]
    released: 2026-01-01
    family: small
    checked: 2026-11-01
    budgets: {max_cost_usd: 0.25}
    notes: by contract
"""
    (entry,) = read(tmp_path, text)["my-model"]
    rates = entry.rates()
    assert {name: rate.base * 10**6 for name, rate in rates.tokens.items()} == {
        "input": Decimal("0.5"),
        "output": 2,
        "cache_read": Decimal("0.05"),
        "cache_write": Decimal("0.6"),
        "cache_write_1h": 1,
        "reasoning": 3,
    }
    assert rates.tokens["input"].at(200_001) * 10**6 == 1
    assert rates.tokens["cache_read"].at(200_001) == rates.tokens["cache_read"].base
    assert (rates.quantities, rates.per_request) == ({"web_searches": Decimal("0.01")}, Decimal("0.005"))
    assert (entry.provider, entry.aliases, entry.family) == ("me", ("my-model-2026-01-01",), "small")
    assert (entry.released, entry.checked) == (date(2026, 1, 1), date(2026, 11, 1))
    assert (entry.budgets.max_cost_usd, entry.notes) == (Decimal("0.25"), "by contract")


def test_decimals_are_read_as_they_are_written(tmp_path: Path) -> None:
    (entry,) = read(tmp_path, "models: {m: {usd_per_1k: {input: 0.1234567890123456789, output: 0.1}}}")["m"]
    assert entry.usd_per_1k is not None
    assert entry.usd_per_1k.input == Decimal("0.1234567890123456789")


def test_a_price_of_zero_is_written_and_kept(tmp_path: Path) -> None:
    (entry,) = read(tmp_path, "models: {m: {usd_per_million: {input: 0, output: 0.0}}}")["m"]
    assert [rate.base for rate in entry.rates().tokens.values()] == [0, 0]


@pytest.mark.parametrize(
    "prices",
    [
        "usd_per_million: {input: 1, output: 1}, usd_per_1k: {input: 1, output: 1}",
        "released: 2026-01-01",
        "usd_per_million: {input: 1, output: 1}, tiers: [{above_input_tokens: 5}]",
    ],
)
def test_the_unit_is_said_once(tmp_path: Path, prices: str) -> None:
    message = complaint(tmp_path, f"models: {{m: {{{prices}}}}}")
    assert "models.m" in message
    assert "either usd_per_million or usd_per_1k" in message


@pytest.mark.parametrize(
    ("entry", "wrong", "right"),
    [
        ("usd_per_milion: {input: 1, output: 1}", "usd_per_milion", "usd_per_million"),
        ("usd_per_million: {input: 1, output: 1, cache_reads: 1}", "cache_reads", "cache_read"),
        ("usd_per_million: {input: 1, output: 1}, budgets: {max_cost: 1}", "max_cost", "max_cost_usd"),
        (
            "usd_per_million: {input: 1, output: 1}, tiers: [{above_input: 5, usd_per_million: {input: 1, output: 1}}]",
            "above_input",
            "above_input_tokens",
        ),
    ],
)
def test_an_unknown_key_is_an_error_that_names_the_nearest(tmp_path: Path, entry: str, wrong: str, right: str) -> None:
    message = complaint(tmp_path, f"models: {{m: {{{entry}}}}}")
    assert str(tmp_path / "models.yml") in message
    assert wrong in message
    assert f"did you mean '{right}'?" in message


@pytest.mark.parametrize("price", ["-1", ".nan", ".inf", "cheap", "[1]"])
def test_a_price_is_a_number_from_zero(tmp_path: Path, price: str) -> None:
    message = complaint(tmp_path, f"models: {{m: {{usd_per_million: {{input: {price}, output: 1}}}}}}")
    assert "models.m: usd_per_million.input" in message


def test_a_key_that_stands_twice_is_an_error_with_both_lines(tmp_path: Path) -> None:
    message = complaint(
        tmp_path,
        "models:\n  m: {usd_per_million: {input: 1, output: 1}}\n  m: {usd_per_million: {input: 2, output: 2}}\n",
    )
    assert "line 3: key 'm' stands twice (first on line 2)" in message


@pytest.mark.parametrize("text", ["", "[]", "models: []", "models: {m: 3}", "models: {", "\t", "m: &a {b: *a}"])
def test_a_file_that_is_no_price_list_is_one_sentence(tmp_path: Path, text: str) -> None:
    message = complaint(tmp_path, text)
    assert message.startswith(str(tmp_path / "models.yml"))
    assert "\n" not in message


def test_a_file_that_is_not_there_is_one_sentence(tmp_path: Path) -> None:
    with pytest.raises(BadInputError, match="No such file"):
        read_models_file(tmp_path / "models.yml")


def test_entries_of_a_list_are_ordered_by_their_day(tmp_path: Path) -> None:
    text = """
models:
  m:
    - {since: 2026-03-01, usd_per_million: {input: 3, output: 1}}
    - {usd_per_million: {input: 1, output: 1}}
    - {since: 2026-02-01, usd_per_million: {input: 2, output: 1}}
"""
    assert [entry.since for entry in read(tmp_path, text)["m"]] == [None, date(2026, 2, 1), date(2026, 3, 1)]


def test_ailangs_models_are_read_with_their_prices_per_thousand() -> None:
    models = read_models_file(AILANG)
    assert len(models) == 8
    (sonnet,) = models["claude-sonnet-4-5"]
    assert {name: rate.base * 10**6 for name, rate in sonnet.rates().tokens.items()} == {"input": 3, "output": 15}
    assert (sonnet.provider, sonnet.notes) == ("anthropic", "Default for the suite")


def test_ailangs_budgets_are_read() -> None:
    models = read_models_file(AILANG)
    (minimax,) = models["opencode-or-minimax-m2-7"]
    assert minimax.budgets.model_dump() == {
        "max_cost_usd": Decimal("0.30"),
        "hard_timeout_secs": 600,
        "expected_ttft_secs": 30,
        "expected_ttf_solution_secs": 90,
    }
    (sonnet,) = models["claude-sonnet-4-5"]
    assert sonnet.budgets.max_cost_usd is None


def test_ailangs_names_for_apis_and_agents_are_aliases() -> None:
    book = PriceBook.load(AILANG)
    assert book.quote("claude-sonnet-4-5-20250929").model == "claude-sonnet-4-5"
    assert book.quote("openrouter/z-ai/glm-4.7-flash").family == "glm-4-7"
    assert book.quote("opus").model == "claude-opus-4-7"


def test_ailangs_free_model_costs_nothing_and_its_others_what_they_say() -> None:
    book = PriceBook.load(AILANG)
    usage = Usage(input_tokens=64_000, output_tokens=32_000)
    assert book.price(usage, "ollama-codellama").usd == 0
    assert book.price(usage, "gpt5-mini").usd == Decimal("0.016") + Decimal("0.064")
