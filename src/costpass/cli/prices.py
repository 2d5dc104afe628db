"""costpass prices: what a model costs, and what some usage of it would."""

import math
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, Any

import typer

from costpass.cli import common

if TYPE_CHECKING:
    from costpass.attempt import Usage
    from costpass.pricing import Bill, Quote


class Format(StrEnum):
    text = "text"
    json = "json"


def command(
    model: Annotated[str, typer.Argument(help="A model's name, with or without its provider: openai/gpt-5, gpt-5.")],
    at: Annotated[str | None, typer.Option(help="The date whose prices are wanted; today where not given.")] = None,
    usage: Annotated[
        str | None,
        typer.Option(
            help="Tokens to bill, by class: input=3000,cache_read=6000,cache_write=1000,output=500. `input` is "
            "uncached input; `total_input` is all of it, cached and written ones included. Also requests= and "
            "any priced quantity, such as web_searches=2."
        ),
    ] = None,
    provider: Annotated[str | None, typer.Option(help="Who serves it, where several do.")] = None,
    prices: common.PriceFiles = None,
    output_format: Annotated[Format, typer.Option("--format", help="How to print it.")] = Format.text,
) -> None:
    """Prices of a model by token class, with their source and age."""
    from costpass.pricing import PriceBook

    quote = PriceBook.load(*(prices or ())).quote(model, provider=provider, at=common.day(at))
    bill = quote.bill(_usage(usage)) if usage else None
    typer.echo(_as_json(quote, bill) if output_format is Format.json else _as_text(quote, bill))
    if provider and quote.provider and provider.casefold() != quote.provider.casefold():
        common.say(f"no prices at {provider!r} are known by that name; these are the ones at {quote.provider!r}")
    if quote.stale:
        common.say(f"these prices were last known to be checked {quote.age_days} days ago; see if they still hold")


def _usage(text: str) -> "Usage":
    from pydantic import ValidationError

    from costpass.attempt import Usage
    from costpass.errors import CostpassError
    from costpass.strict_yaml import complaint

    counts = common.pairs(text.split(","), "--usage")
    try:
        numbers = {name: float(value) for name, value in counts.items()}
    except ValueError:
        numbers = {"": math.nan}
    if not all(map(math.isfinite, numbers.values())):
        raise CostpassError(f"--usage {text}: every count must be a number")
    if "total_input" in numbers:
        cached = sum(numbers.get(name, 0) for name in ("cache_read", "cache_write", "cache_write_1h"))
        numbers["input"] = numbers.pop("total_input") - cached
    fields: dict[str, Any] = {"input_tokens": 0, "output_tokens": 0, "quantities": {}}
    for name, number in numbers.items():
        field = name if name.endswith(("_tokens", "requests", "turns")) else f"{name}_tokens"
        if field in Usage.model_fields:
            fields[field] = int(number) if number.is_integer() else number
        else:
            fields["quantities"][name] = number
    try:
        return Usage(**fields)
    except ValidationError as error:
        raise CostpassError(f"--usage {text}: {complaint(error, Usage)}") from None


def _as_text(quote: "Quote", bill: "Bill | None") -> str:
    from costpass.budget.cap import cap_usd
    from costpass.pricing.rates import PER_MILLION, TOKEN_CLASSES
    from costpass.reports import table
    from costpass.reports.figures import dollars

    rates = quote.rates
    above = rates.first_tier
    rows = []
    for name in TOKEN_CLASSES:
        rate = rates.tokens.get(name)
        base = "no price known" if rate is None else f"${(rate.base * PER_MILLION).normalize():f}"
        tiers = [f"${(price * PER_MILLION).normalize():f}" for _, price in rate.tiers] if rate else []
        if rate is not None or name != "reasoning":
            rows.append([name, base, ", ".join(tiers)])
    tier_title = f"in requests over {above:,} input tokens" if above else ""
    title = f"{quote.model}" + (f" at {quote.provider}" if quote.provider else "")
    lines = [f"{title}, {quote.at:%Y-%m-%d}", "", table.text(["token class", "USD per million", tier_title], rows)]
    lines += [f"{name}: ${price.normalize():f} each" for name, price in sorted(rates.quantities.items())]
    if rates.per_request:
        lines.append(f"each request: ${rates.per_request.normalize():f}")
    cap = cap_usd(quote)
    lines += ["", f"default cap of an attempt: {dollars(cap)}" + ("" if cap else " (free: no cap)")]
    age = (
        f", checked no earlier than {quote.checked} ({quote.age_days} days ago)"
        if quote.checked
        else ", no date of check"
    )
    lines.append(f"source: {quote.source}{age}")
    if bill is not None:
        lines += ["", *_bill_lines(bill)]
    return "\n".join(lines)


def _bill_lines(bill: "Bill") -> list[str]:
    from costpass.pricing.rates import PER_MILLION
    from costpass.reports import table

    rows = [
        [
            line.what,
            f"{line.count.normalize():,f}",
            f"${(line.usd_each * PER_MILLION).normalize():f}",
            f"${line.usd.normalize():f}",
        ]
        for line in bill.lines
    ]
    rows.append(["total", "", "", f"${bill.usd.normalize():f}"])
    notes = ["the tier was decided by the mean size of a request"] if bill.tier_assumed else []
    return [table.text(["billed", "count", "per million", "USD"], rows), *notes]


def _as_json(quote: "Quote", bill: "Bill | None") -> str:
    import json

    from costpass.budget.cap import cap_usd
    from costpass.pricing.rates import PER_MILLION

    document: dict[str, Any] = {
        "schema": "costpass.prices/1",
        "asked": quote.asked,
        "model": quote.model,
        "provider": quote.provider,
        "at": quote.at.isoformat(),
        "usd_per_million": {name: float(rate.base * PER_MILLION) for name, rate in quote.rates.tokens.items()},
        "tiers": [
            {"token_class": name, "above_input_tokens": above, "usd_per_million": float(price * PER_MILLION)}
            for name, rate in quote.rates.tokens.items()
            for above, price in rate.tiers
        ],
        "quantities_usd": {name: float(price) for name, price in quote.rates.quantities.items()},
        "default_cap_usd": float(cap_usd(quote)),
        "source": quote.source,
        "checked": quote.checked.isoformat() if quote.checked else None,
        "age_days": quote.age_days,
        "released": quote.released.isoformat() if quote.released else None,
        "family": quote.family,
        "notes": quote.notes,
    }
    if bill is not None:
        document["bill"] = {
            "lines": [{"what": line.what, "count": float(line.count), "usd": float(line.usd)} for line in bill.lines],
            "usd": float(bill.usd),
            "tier_assumed": bill.tier_assumed,
        }
    return json.dumps(document, indent=2, ensure_ascii=False)
