import pytest
from hypothesis import given
from hypothesis import strategies as st

from costpass.benchmarks.registry import bundled, find, require
from costpass.errors import BadInputError


@pytest.mark.parametrize(
    ("written", "name"),
    [
        ("GSM8K", "gsm8k"),
        ("MATH-500", "math-500"),
        ("math500", "math-500"),
        ("MATH500", "math-500"),
        ("AIME-2024", "aime-2024"),
        ("AIME_2024", "aime-2024"),
        ("gpqa_diamond", "gpqa-diamond"),
        ("GPQA-Diamond", "gpqa-diamond"),
        ("TwoDigitAddition", "two-digit-addition"),
        ("BBQ", "bbq"),
    ],
)
def test_a_benchmark_is_found_however_its_name_is_written(written: str, name: str) -> None:
    assert require(written).name == name


def test_an_unknown_name_is_told_the_nearest_one() -> None:
    with pytest.raises(BadInputError, match="did you mean 'gsm8k'"):
        require("gsmk8")


@given(st.text())
def test_no_name_breaks_the_search(name: str) -> None:
    loader = find(name)
    assert loader is None or loader.name in bundled()


@pytest.mark.parametrize(
    ("name", "usd"),
    [
        ("two-digit-addition", 0.02),
        ("gsm8k", 3.50),
        ("math-500", 12),
        ("aime-2024", 20),
        ("gpqa-diamond", 58),
        ("bbq", 0.10),
    ],
)
def test_experts_cost_what_the_paper_says(name: str, usd: float) -> None:
    assert bundled()[name].expert.range_usd[1] == usd


def test_every_benchmark_has_a_place_to_get_its_rows_from() -> None:
    for loader in bundled().values():
        assert sum((loader.hub is not None, loader.generate is not None, bool(loader.rows))) == 1, loader.name


def test_benchmarks_load_without_the_heavy_libraries() -> None:
    import subprocess
    import sys

    script = (
        "import sys, costpass.benchmarks.loading\n"
        "print([name for name in ('numpy', 'duckdb', 'datasets', 'huggingface_hub') if name in sys.modules])"
    )
    answer = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert answer.stdout.strip() == "[]"
