"""Are the intervals right? False alarms and coverage in worlds whose truth is known, beside what others compute.

    python -m perf.calibration [--trials 2000] [--seed 0] [--resamples 1000]

Prints, for a nominal 95 %: how often a comparison of two identical arms claims a difference, how often the interval of
a cost of pass and of a success rate holds the true one (and on which side it misses), and the type I error of the
permutation test.
"""

import argparse
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from scipy.special import betaincinv

from costpass.uncertainty.arrays import Bools, Floats, floats
from costpass.uncertainty.bootstrap import extended_quantiles, ratio_bootstrap, resampled_sums
from costpass.uncertainty.interval import Intervals
from costpass.uncertainty.jackknife import linear_log_ratios, linear_scale, norm, t_quantile
from costpass.uncertainty.paired import joint_bootstrap, paired_ratios, permutation_p
from costpass.uncertainty.pooled import rates_interval, ratios_interval

AA_SIZES = ((6, 5), (10, 3), (20, 5), (52, 5))
COVERAGE_SIZES = ((20, 5), (50, 5), (150, 5), (50, 1))


@dataclass(frozen=True)
class Sample:
    """Attempts of one arm in many trials: cost and outcome, attempts × problems × trials."""

    cost: Floats
    passed: Bools

    @property
    def cost_by_problem(self) -> Floats:
        return floats(self.cost.sum(axis=0))

    @property
    def passes_by_problem(self) -> Floats:
        return floats(self.passed.sum(axis=0))

    @property
    def attempts_by_problem(self) -> Floats:
        return np.full(self.cost.shape[1:], float(self.cost.shape[0]))


def identical_arms(rng: np.random.Generator, problems: int, attempts: int, trials: int) -> tuple[Sample, Sample]:
    """Two arms that do not differ: accuracy ~ Beta(4, 2) by problem, costs lognormal, σ = 0.4."""
    accuracy = rng.beta(4, 2, (problems, trials))
    shape = (attempts, problems, trials)
    first = Sample(rng.lognormal(0, 0.4, shape), rng.random(shape) < accuracy)
    return first, Sample(rng.lognormal(0, 0.4, shape), rng.random(shape) < accuracy)


@dataclass(frozen=True)
class World:
    """Accuracy ~ Beta(a, b) by problem; log cost rises with a problem's difficulty and when an attempt fails."""

    name: str
    a: float
    b: float
    cost_sd: float = 0.5
    problem_cost_sd: float = 0.0
    by_difficulty: float = 0.0
    by_failure: float = 0.0

    def draw(self, rng: np.random.Generator, problems: int, attempts: int, trials: int) -> Sample:
        accuracy = rng.beta(self.a, self.b, (problems, trials))
        shape = (attempts, problems, trials)
        passed = rng.random(shape) < accuracy
        log_cost = rng.normal(0, self.cost_sd, shape) + self.problem_cost_sd * rng.normal(0, 1, (problems, trials))
        return Sample(np.exp(log_cost + self.by_difficulty * (1 - accuracy) + self.by_failure * ~passed), passed)

    def truth(self) -> tuple[float, float]:
        """The true cost of pass and success rate, by quadrature over the quantiles of accuracy."""
        accuracy = betaincinv(self.a, self.b, (np.arange(400_000) + 0.5) / 400_000)
        level = np.exp((self.cost_sd**2 + self.problem_cost_sd**2) / 2 + self.by_difficulty * (1 - accuracy))
        cost = np.mean(level * (accuracy + (1 - accuracy) * np.exp(self.by_failure)))
        return float(cost / np.mean(accuracy)), float(np.mean(accuracy))


#: The world that is asked for, and others that are harder on an interval.
HARD_PROBLEMS_COST_MORE = World("accuracy ~ Beta(.6,.6), failing costs more", 0.6, 0.6, 0.5, 0.0, 1.0, 0.7)
WORLDS = (
    HARD_PROBLEMS_COST_MORE,
    World("... and problems differ in cost", 0.6, 0.6, 0.5, 0.5, 1.0, 0.7),
    World("problems differ widely in cost, failing costs less", 0.6, 0.6, 0.5, 1.0, 0.0, -0.7),
    World("nearly always passes: Beta(1.9,.1)", 1.9, 0.1, 0.1),
    World("rarely passes: Beta(.2,1.8)", 0.2, 1.8),
)


def copeca_interval(a: Sample, b: Sample, resamples: int, rng: np.random.Generator) -> Intervals:
    """copeca's: percentile bootstrap of the mean of per-problem changes, leaving out problems without a pass in an
    arm; beside it, as its headline, the pooled change."""
    with np.errstate(divide="ignore", invalid="ignore"):
        change = (b.cost_by_problem / b.passes_by_problem) / (a.cost_by_problem / a.passes_by_problem) - 1
    change = np.where((a.passes_by_problem > 0) & (b.passes_by_problem > 0), change, np.nan)
    # Its draws are over the problems that are left, so trials go by how many those are; nan sorts last.
    change = np.sort(change, axis=0)
    left = np.count_nonzero(~np.isnan(change), axis=0)
    low, high = np.full(len(left), np.nan), np.full(len(left), np.nan)
    for count in np.unique(left[left > 0]):
        trials = left == count
        means = resampled_sums(change[:count, trials], resamples, rng) / count
        low[trials], high[trials] = extended_quantiles(means, 0.95)
    with np.errstate(divide="ignore", invalid="ignore"):
        pooled_a, pooled_b = (arm.cost.sum(axis=(0, 1)) / arm.passed.sum(axis=(0, 1)) for arm in (a, b))
        return Intervals(pooled_b / pooled_a - 1, low, high, "copeca")


def linearised_interval(sample: Sample) -> Intervals:
    """The log-linearised interval with T/(T-1), which ours is measured against."""
    cost, passes = sample.cost_by_problem, sample.passes_by_problem
    clusters = np.full(cost.shape[1], len(cost))
    with np.errstate(divide="ignore", invalid="ignore"):
        value = cost.sum(axis=0) / passes.sum(axis=0)
        reach = t_quantile(clusters, 0.95) * norm(linear_log_ratios(cost, passes)) * linear_scale(clusters)
        return Intervals(value, value * np.exp(-reach), value * np.exp(reach), "linearised")


def paired_interval(a: Sample, b: Sample) -> Intervals:
    """Ours, of every trial."""
    return paired_ratios(
        a.cost_by_problem,
        a.passes_by_problem,
        b.cost_by_problem,
        b.passes_by_problem,
        attempts_a=a.attempts_by_problem,
        attempts_b=b.attempts_by_problem,
    )


def pooled_interval(sample: Sample) -> Intervals:
    """Ours, of every trial."""
    return ratios_interval(sample.cost_by_problem, sample.passes_by_problem, attempts=sample.attempts_by_problem)


def rate_intervals(sample: Sample) -> Intervals:
    """Ours, of every trial."""
    return rates_interval(sample.passes_by_problem, sample.attempts_by_problem)


def permutation_p_values(a: Sample, b: Sample, permutations: int, rng: np.random.Generator) -> Floats:
    """The p-value of every trial."""
    arms = (a.cost_by_problem, a.passes_by_problem, b.cost_by_problem, b.passes_by_problem)
    trials = a.cost.shape[2]
    return np.array(
        [permutation_p(*(arm[:, i] for arm in arms), permutations=permutations, rng=rng) for i in range(trials)]
    )


def joint_intervals(a: Sample, b: Sample, resamples: int, rng: np.random.Generator) -> Intervals:
    """The joint cluster bootstrap of every trial."""
    arms = (a.cost_by_problem, a.passes_by_problem, b.cost_by_problem, b.passes_by_problem)
    trials = a.cost.shape[2]
    found = [joint_bootstrap(*(arm[:, i] for arm in arms), resamples=resamples, rng=rng) for i in range(trials)]
    value, low, high = np.array([(each.value, each.low, each.high) for each in found]).T
    return Intervals(value, low, high, "joint bootstrap")


def bootstrap_intervals(cost: Floats, passes: Floats, resamples: int, rng: np.random.Generator) -> Intervals:
    """The percentile bootstrap over rows. Trials share their draws, which leaves the coverage of each as it is."""
    low, high = ratio_bootstrap(cost, passes, resamples=resamples, rng=rng)
    with np.errstate(divide="ignore"):
        return Intervals(cost.sum(axis=0) / passes.sum(axis=0), low, high, "bootstrap")


def percent(of: Bools) -> float:
    return 100 * float(np.mean(of))


def misses(intervals: Intervals, truth: float) -> str:
    """Coverage, and in brackets how often the truth lies below and above."""
    below, above = percent(intervals.low > truth), percent(intervals.high < truth)
    return f"{100 - below - above:5.1f} ({below:4.1f} {above:4.1f})"


def false_alarms(rng: np.random.Generator, trials: int, resamples: int) -> Iterator[str]:
    yield "Two identical arms, % of trials that claim a difference (5 is right)"
    yield (
        f"{'problems × attempts':22}{'paired':>9}{'joint boot':>12}{'permutation':>13}{'copeca':>9}"
        f"{'its headline outside':>24}"
    )
    for problems, attempts in AA_SIZES:
        a, b = identical_arms(rng, problems, attempts, trials)
        copeca = copeca_interval(a, b, resamples, rng)
        p_values = permutation_p_values(a, b, resamples, rng)
        yield (
            f"{f'{problems} × {attempts}':22}{percent(paired_interval(a, b).excludes(0)):9.1f}"
            f"{percent(joint_intervals(a, b, resamples, rng).excludes(0)):12.1f}"
            f"{percent(p_values <= 0.05):13.1f}{percent(copeca.excludes(0)):9.1f}"
            f"{percent((copeca.value < copeca.low) | (copeca.value > copeca.high)):24.1f}"
        )


def coverage(rng: np.random.Generator, trials: int, resamples: int) -> Iterator[str]:
    yield "Cost of pass and success rate, % of intervals that hold the truth (truth below, above)"
    yield (
        f"{'problems × attempts':22}{'cost of pass':>19}{'linearised':>19}{'cluster boot':>19}{'boot of attempts':>19}"
        f"{'success rate':>19}"
    )
    for world in WORLDS:
        yield world.name
        cost_of_pass, rate = world.truth()
        for problems, attempts in COVERAGE_SIZES:
            sample = world.draw(rng, problems, attempts, trials)
            rows = sample.cost.reshape(-1, trials), sample.passed.reshape(-1, trials).astype(np.float64)
            by_problem = sample.cost_by_problem, sample.passes_by_problem
            columns = (
                misses(pooled_interval(sample), cost_of_pass),
                misses(linearised_interval(sample), cost_of_pass),
                misses(bootstrap_intervals(*by_problem, resamples, rng), cost_of_pass),
                misses(bootstrap_intervals(*rows, resamples, rng), cost_of_pass),
                misses(rate_intervals(sample), rate),
            )
            yield f"{f'  {problems} × {attempts}':22}" + "".join(f"{column:>19}" for column in columns)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--trials", type=int, default=2000)
    parser.add_argument("--resamples", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    rng = np.random.default_rng(options.seed)
    for line in false_alarms(rng, options.trials, options.resamples):
        print(line, flush=True)
    print()
    for line in coverage(rng, options.trials, options.resamples):
        print(line, flush=True)


if __name__ == "__main__":
    main()
