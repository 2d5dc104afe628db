"""How far the frontier's interval and its estimated optimism can be trusted, in worlds whose frontier is known.

    python -m perf.frontier_worlds [--trials 200] [--seed 0] [--problems 100] [--strategies 10] [--attempts 8]

A world has strategies of rising ability and price and problems of normal difficulty. Each trial draws a world, lets
every strategy attempt every problem, and compares with two truths: the mean frontier of these very problems, and that
of 20,000 others from the same source. Prints, side by side, the coverage of 95 % intervals and the optimism.
"""

import argparse
import time
from collections import defaultdict
from collections.abc import Callable

import numpy as np

from costpass.economics.arrays import Floats
from costpass.economics.cost_of_pass import cost_of_pass
from costpass.economics.frontier import frontier, value
from costpass.economics.optimism import frontier_interval
from costpass.uncertainty.resampling import two_level

EXPERT = 1.0
RESAMPLES = 400
ELSEWHERE = 20_000
Sums = tuple[Floats, Floats, Floats, Floats, Floats, Floats]
World = Callable[[int], tuple[Floats, Floats]]


def world(rng: np.random.Generator, strategies: int) -> World:
    """A source of problems: chance of a pass and expected cost of every strategy on that many of them."""
    ability = np.linspace(-1.5, 2.0, strategies) + rng.normal(0, 0.3, strategies)
    price = np.exp(np.linspace(-6, -2.5, strategies) + rng.normal(0, 0.3, strategies))

    def problems(count: int) -> tuple[Floats, Floats]:
        difficulty = rng.normal(0, 1.5, count)
        logit = ability[:, None] - difficulty + rng.normal(0, 0.7, (strategies, count))
        return 1 / (1 + np.exp(-logit)), price[:, None] * np.exp(rng.normal(0, 0.3, (strategies, count)))

    return problems


def attempts(rng: np.random.Generator, chance: Floats, cost: Floats, count: int) -> Sums:
    """What a ledger would know of each cell: n, k, and sums of costs and their squares by outcome."""
    passed = rng.random((count, *chance.shape)) < chance
    spent = cost * np.exp(rng.normal(0, 0.3, passed.shape) - 0.045)
    on_pass, on_fail = spent * passed, spent * ~passed
    return (
        np.full(chance.shape, float(count)),
        passed.sum(axis=0).astype(np.float64),
        on_pass.sum(axis=0),
        (on_pass**2).sum(axis=0),
        on_fail.sum(axis=0),
        (on_fail**2).sum(axis=0),
    )


def bootstrap(sums: Sums, rng: np.random.Generator, *, problems: bool) -> Floats:
    drawn = two_level(*sums, resamples=RESAMPLES, rng=rng, problems=problems)
    return np.concatenate([value(frontier(cost_of_pass(each.mean_cost, each.success), EXPERT)) for each in drawn])


def trial(rng: np.random.Generator, strategies: int, problems: int, count: int) -> dict[str, dict[str, float]]:
    source = world(rng, strategies)
    chance, cost = source(problems)
    here = float(value(frontier(cost / chance, EXPERT)))
    others = source(ELSEWHERE)
    anywhere = float(value(frontier(others[1] / others[0], EXPERT)))
    sums = attempts(rng, chance, cost, count)

    replicates = bootstrap(sums, rng, problems=True)
    low, high = np.quantile(replicates, [0.025, 0.975])
    ours = frontier_interval(*sums, expert=EXPERT, rng=rng, resamples=RESAMPLES)
    inner = float(bootstrap(sums, rng, problems=False).mean())
    plug_in = ours.value
    bias = inner - plug_in
    ends = {
        "percentile": (low, high),
        "percentile, shifted by inner bias": (low - 2 * bias, high - 2 * bias),
        "basic on the log scale": (plug_in**2 / high, plug_in**2 / low),
        "empirical Bayes (frontier_interval)": (ours.low, ours.high),
    }
    return {
        **{
            name: {"these": a <= here <= b, "others": a <= anywhere <= b, "width": (b - a) / here}
            for name, (a, b) in ends.items()
        },
        "truth": {"plug_in_error": plug_in / here - 1, "optimism": here - plug_in, "frontier": here},
        "inner resampling": _judged(-bias, plug_in, here),
        "optimism()": _judged(ours.optimism, plug_in, here),
    }


def _judged(estimate: float, plug_in: float, true: float) -> dict[str, float]:
    return {
        "optimism": estimate,
        "right_sign": float(np.sign(estimate) == np.sign(true - plug_in)),
        "error_after": abs(plug_in + estimate - true) / true,
        "error_before": abs(plug_in - true) / true,
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--trials", type=int, default=200)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--problems", type=int, default=100)
    parser.add_argument("--strategies", type=int, default=10)
    parser.add_argument("--attempts", type=int, default=8)
    options = parser.parse_args()
    rng = np.random.default_rng(options.seed)
    seen: dict[str, list[dict[str, float]]] = defaultdict(list)
    started = time.process_time()
    for _ in range(options.trials):
        for name, figures in trial(rng, options.strategies, options.problems, options.attempts).items():
            seen[name].append(figures)
    means = {name: {key: float(np.mean([one[key] for one in all_])) for key in all_[0]} for name, all_ in seen.items()}

    truth = means["truth"]
    print(f"{options.trials} worlds of {options.problems} problems x {options.strategies} strategies", end="")
    print(f" x {options.attempts} attempts, seed {options.seed}, {time.process_time() - started:.0f} s of CPU")
    print(f"true frontier ${truth['frontier']:.5f}, plug-in off by {truth['plug_in_error']:+.1%} on average")
    print(f"\n{'95 % interval covers the frontier of':38}{'these problems':>15}{'others':>9}{'width':>8}")
    for name, figures in means.items():
        if "these" in figures:
            print(f"  {name:36}{figures['these']:15.1%}{figures['others']:9.1%}{figures['width']:8.0%}")
    print(f"\n{'optimism, in truth $' + format(truth['optimism'], '.5f'):38}{'mean estimate':>15}", end="")
    print(f"{'right sign':>12}{'error left':>12}")
    for name, figures in means.items():
        if "right_sign" in figures:
            print(f"  {name:36}{figures['optimism']:15.5f}{figures['right_sign']:12.1%}{figures['error_after']:12.1%}")
    print(f"  {'none (the plug-in as it is)':36}{0:15.5f}{'':12}{means['optimism()']['error_before']:12.1%}")


if __name__ == "__main__":
    main()
