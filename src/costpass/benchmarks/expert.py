"""What an expert asks for one solution: the alternative that every strategy is held against."""

from decimal import Decimal
from typing import Annotated, Any, Self

from pydantic import BaseModel, ConfigDict, Field, model_validator

Price = Annotated[Decimal, Field(ge=0, allow_inf_nan=False)]
PriceRange = Price | tuple[Price, Price]


class ExpertPrice(BaseModel):
    """What an expert asks for one solution: a price, or a rate and a time, each a number or a range."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    usd: PriceRange | None = Field(
        default=None, description="Dollars for one solution; of a range, the upper end counts."
    )
    hourly_usd: PriceRange | None = Field(default=None, description="Dollars for an hour of the expert's time.")
    minutes: PriceRange | None = Field(default=None, description="Minutes that one solution takes.")
    aliases: tuple[str, ...] = Field(default=(), description="Other names that the benchmark goes by in records.")

    @model_validator(mode="after")
    def _one_way(self) -> Self:
        timed = [self.hourly_usd, self.minutes]
        if (self.usd is not None) == (None not in timed) or (self.usd is not None and timed != [None, None]):
            raise ValueError("say either usd, or hourly_usd and minutes")
        return self

    @property
    def range_usd(self) -> tuple[float, float]:
        """The lower and the upper end."""
        if self.usd is not None:
            low, high = _ends(self.usd)
        else:
            rate, time = _ends(self.hourly_usd), _ends(self.minutes)
            low, high = rate[0] * time[0] / 60, rate[1] * time[1] / 60
        return float(low), float(high)


def _ends(price: Any) -> tuple[Decimal, Decimal]:
    return price if isinstance(price, tuple) else (price, price)
