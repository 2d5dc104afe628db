"""Which of several replies wins a vote."""

import random
from collections import Counter
from collections.abc import Sequence


def elect(votes: Sequence[str | None], seed: int) -> int:
    """The place of the first reply with the winning vote; None is no vote, and with no vote at all the first wins.

    A tie is broken by the seed and not by place: the first of a tie would make an even k quietly a smaller one.

    >>> elect(["4", "5", None, "5"], seed=0)
    1
    """
    tally = Counter(vote for vote in votes if vote is not None)
    if not tally:
        return 0
    most = max(tally.values())
    # Counter keeps the order of first appearance, so a seed picks the same one on every machine.
    tied = [vote for vote, count in tally.items() if count == most]
    return votes.index(random.Random(seed).choice(tied))
