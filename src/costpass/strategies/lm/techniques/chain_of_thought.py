"""`chain-of-thought`: the prompt that the Cost-of-Pass paper measured its models with."""

from typing import Any

from costpass.strategies.lm.techniques.built import BuiltTechnique, Given, Options, read_options
from costpass.strategies.lm.techniques.one_prompt import OnePrompt

NAME = "chain-of-thought"

#: Protocol data, word for word from appendix B of arXiv 2504.13359: figures compare with the paper's only under its
#: own prompt. The PDF prints the fences as commas; the authors' runs sent ''' and the blank lines kept here.
TEMPLATE = """\
Please solve the following question. You can explain your solution before presenting the final answer.

Format your final answer as:

<answer>
...
</answer>

Instructions:
- For multiple-choice: Give only the letter (e.g., (A)).
- For numeric: Give only the number (e.g., 42).
- For free-response: Provide the full final answer text.

INPUT:
'''
{question}
'''
"""


def build(options: Any, given: Given) -> BuiltTechnique:
    read_options(Options, options, NAME)
    return OnePrompt(NAME, given.prompt or TEMPLATE)
