"""0 + 0 to 9 + 9: a hundred sums that tell a working setup from a broken one for next to nothing."""

from decimal import Decimal

from costpass.benchmarks.expert import ExpertPrice
from costpass.benchmarks.loader import Loader, Typical
from costpass.benchmarks.loaders.addition import pairs, problem

LOADER = Loader(
    name="one-digit-addition",
    about="sums of two digits, generated",
    grader="numeric",
    reading="number",
    # Our own price: three seconds at $20 an hour, as the paper reckons for two digits.
    expert=ExpertPrice(hourly_usd=Decimal(20), minutes=Decimal("0.05")),
    typical=Typical(problems=100, input_tokens=50, output_tokens=20),
    columns=("left", "right"),
    problem=problem,
    generate=lambda seed: pairs(range(10), seed),
)
