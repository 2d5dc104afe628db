"""majority-vote: the laws of the election, and calls that are made, cancelled and booked."""

import asyncio
import random
from collections import Counter
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.strategies.lm.techniques.scripted_ask import ADDITION, ScriptedAsk, answer

from costpass.strategies.lm.ask import Reply
from costpass.strategies.lm.techniques.election import elect
from costpass.strategies.lm.techniques.registry import build_technique

VOTES = st.lists(st.sampled_from(["a", "b", "c", None]), min_size=1, max_size=9)
SEEDS = st.integers(min_value=0, max_value=2**63)


@given(VOTES, SEEDS)
def test_nobody_has_more_votes_than_the_winner(votes: list[str | None], seed: int) -> None:
    place = elect(votes, seed)
    winner = votes[place]
    tally = Counter(vote for vote in votes if vote is not None)
    assert (tally[winner] == max(tally.values())) if winner is not None else (not tally and place == 0)


@given(VOTES, SEEDS)
def test_the_winner_is_the_first_with_its_vote_and_the_same_every_time(votes: list[str | None], seed: int) -> None:
    place = elect(votes, seed)
    assert place == elect(votes, seed)
    assert votes.index(votes[place]) == place


@given(VOTES, SEEDS, st.randoms())
def test_a_clear_majority_wins_in_any_order(votes: list[str | None], seed: int, shuffler: random.Random) -> None:
    decided = ["d"] * (len(votes) + 1) + votes
    shuffler.shuffle(decided)
    assert decided[elect(decided, seed)] == "d"


@given(VOTES, SEEDS)
def test_empty_votes_change_no_winner(votes: list[str | None], seed: int) -> None:
    with_blanks = [blank_or_vote for vote in votes for blank_or_vote in (vote, None)]
    assert with_blanks[elect(with_blanks, seed)] == votes[elect(votes, seed)]


def test_seeds_break_a_tie_evenly() -> None:
    winners = Counter(elect(["a", "b"], seed) for seed in range(400))
    assert min(winners[0], winners[1]) > 150


def test_k_fresh_calls_run_at_once_and_the_first_reply_of_the_winner_is_returned() -> None:
    ask = ScriptedAsk("<answer>41</answer>", "so <answer>42</answer>", "thus <answer>42.0</answer>")
    technique = build_technique({"majority-vote": {"k": 3}})
    assert answer(technique, ask) == "so <answer>42</answer>"
    assert ask.most_running == 3
    assert len({call.prompt for call in ask.calls}) == 1
    assert all(not call.history for call in ask.calls)
    assert ask.calls[0].text.startswith("Please solve the following question.")


def test_a_tie_follows_the_seed_of_the_attempt() -> None:
    technique = build_technique({"majority-vote": {"k": 2, "of": "direct"}})
    answers = [answer(technique, ScriptedAsk("41", "42", seed=seed)) for seed in range(20)]
    assert set(answers) == {"41", "42"}
    assert answers == [answer(technique, ScriptedAsk("41", "42", seed=seed)) for seed in range(20)]


def test_replies_without_an_answer_are_no_votes() -> None:
    technique = build_technique({"majority-vote": {"k": 3, "of": "direct"}})
    assert answer(technique, ScriptedAsk("no idea", "no idea", "42")) == "42"
    assert answer(technique, ScriptedAsk("who knows", "no idea", "no idea")) == "who knows"


def test_a_vote_of_one_is_the_technique_itself() -> None:
    assert answer(build_technique({"majority-vote": {"k": 1, "of": "direct"}}), ScriptedAsk("7")) == "7"


class HangingAsk(ScriptedAsk):
    """Its calls hang until cancelled and then take a while to book what they spent; the first may fail instead."""

    def __init__(self, first_fails: bool) -> None:
        super().__init__()
        self.started = 0
        self.ran_on = 0
        self._first_fails = first_fails

    async def __call__(self, *_prompt: Any, **_options: Any) -> Reply:
        self.started += 1
        if self.started == 1 and self._first_fails:
            await asyncio.sleep(0.01)
            raise ConnectionError("the provider hung up")
        try:
            await asyncio.sleep(2)
            self.ran_on += 1
        finally:
            await asyncio.sleep(0.02)
            self.booked += 1
        return Reply(text="too late")


def test_a_failing_call_ends_the_others_and_waits_until_they_are_booked() -> None:
    ask = HangingAsk(first_fails=True)
    with pytest.raises(ConnectionError, match="hung up"):
        answer(build_technique({"majority-vote": {"k": 4}}), ask)
    assert (ask.started, ask.ran_on, ask.booked) == (4, 0, 3)


def test_a_cancelled_vote_waits_until_its_calls_are_booked() -> None:
    ask = HangingAsk(first_fails=False)

    async def cancel_soon() -> int:
        running = asyncio.ensure_future(build_technique("majority-vote")(ADDITION, ask))
        await asyncio.sleep(0.01)
        running.cancel()
        with pytest.raises(asyncio.CancelledError):
            await running
        return ask.booked

    assert asyncio.run(cancel_soon()) == 3


def test_names_and_calls_add_up() -> None:
    vote = build_technique({"majority-vote": {"k": 3}})
    assert (vote.name, vote.calls) == ("majority-vote-3", (3, 3))
    nested = build_technique({"majority-vote": {"k": 5, "of": {"self-refine": {"rounds": 2, "of": "direct"}}}})
    assert (nested.name, nested.calls) == ("majority-vote-5-of-self-refine-2-of-direct", (15, 15))
