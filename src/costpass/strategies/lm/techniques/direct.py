"""`direct`: the question and nothing else."""

from typing import Any

from costpass.strategies.lm.techniques.built import BuiltTechnique, Given, Options, read_options
from costpass.strategies.lm.techniques.one_prompt import OnePrompt

NAME = "direct"
TEMPLATE = "{question}"


def build(options: Any, given: Given) -> BuiltTechnique:
    read_options(Options, options, NAME)
    return OnePrompt(NAME, given.prompt or TEMPLATE)
