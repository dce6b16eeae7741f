"""The literal reader: answers only from the text it is given.

It knows labels, keys, tables and plain sentences. It finds the value at the asked label, may compare two
values it has read, computes nothing else, and says so when it cannot find something. No language model.
"""

from batchwork.reader.answering import NOT_FOUND, Answer, read
from batchwork.reader.asking import split_prompt, split_question
from batchwork.reader.filling import fill
from batchwork.reader.layout import sentence_around

__all__ = ["NOT_FOUND", "Answer", "fill", "read", "sentence_around", "split_prompt", "split_question"]
