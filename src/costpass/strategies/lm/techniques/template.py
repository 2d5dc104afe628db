"""Templates: text in which `{question}` stands for the question."""

import re

from costpass.errors import BadInputError


def fill(template: str, **values: str) -> str:
    """The template with `{name}` replaced for each of `values`, and every other brace left as it is.

    >>> fill("{question} = {x}?", question="f({x})")
    'f({x}) = {x}?'
    """
    # In one pass: a question that holds `{reply}` must not be filled in turn.
    placeholder = re.compile(r"\{(" + "|".join(map(re.escape, values)) + r")\}")
    return placeholder.sub(lambda found: values[found[1]], template)


def checked(prompt: str) -> str:
    """The strategy's own template, if the question has a place in it."""
    if "{question}" not in prompt:
        raise BadInputError("prompt: has no {question}, so the model would never see one; put {question} where it goes")
    return prompt
