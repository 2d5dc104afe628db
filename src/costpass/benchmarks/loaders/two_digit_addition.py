"""10 + 10 to 99 + 99: the easiest benchmark of the Cost-of-Pass paper."""

from decimal import Decimal

from costpass.benchmarks.expert import ExpertPrice
from costpass.benchmarks.loader import Loader, Typical
from costpass.benchmarks.loaders.addition import pairs, problem

LOADER = Loader(
    name="two-digit-addition",
    about="sums of two two-digit numbers, generated",
    grader="numeric",
    reading="number",
    expert=ExpertPrice(usd=Decimal("0.02")),
    typical=Typical(problems=8100, input_tokens=50, output_tokens=60),
    columns=("left", "right"),
    problem=problem,
    generate=lambda seed: pairs(range(10, 100), seed),
)
