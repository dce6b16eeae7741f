"""A rule-based fake model: answers only from the text it is given. No language model.

The simulator's `reader` persona and `mock:reader` speak through it, so that demos, tests and benchmarks get true
answers without a provider. It finds the value at the named label, may compare two values it has read, computes nothing
else, and says so when it cannot find something.

It stands alone. In particular it shares no code with `evidence/`, which checks what a model answered: a reading that
both had wrong would otherwise pass. An import contract holds the two apart.
"""

from batchwork.literal.answer import NOT_FOUND, read, read_each
from batchwork.literal.form import fill
from batchwork.literal.page_shape import sentence_around
from batchwork.literal.question import split_prompt, split_question, split_turns

__all__ = ["NOT_FOUND", "fill", "read", "read_each", "sentence_around", "split_prompt", "split_question", "split_turns"]
