"""Three phases in three places: prepare (pure), process (the engine), finish (pure).

async with open_prompt_service("mock:echo") as service:
    result = await process_multiple_prompts(["one", "two"], service, batch_size=100)
"""

from batchwork.prompts.field_path import FieldPath, PathNotFound, PathSyntaxError, parse_path
from batchwork.prompts.finish import Answer, Summary, finish_all, finish_answer, finish_value, summarise
from batchwork.prompts.item import Problem, PromptItem
from batchwork.prompts.pipeline import PromptAnswers, defaults_for, open_prompt_service, process_multiple_prompts
from batchwork.prompts.prepare import PreparedPrompt, PromptDefaults, prepare_all, prepare_prompt_request
from batchwork.prompts.process import DEFAULT_BATCH_SIZE, Executed, PromptBatch, process_prompt_batch

__all__ = [
    "DEFAULT_BATCH_SIZE",
    "Answer",
    "Executed",
    "FieldPath",
    "PathNotFound",
    "PathSyntaxError",
    "PreparedPrompt",
    "Problem",
    "PromptAnswers",
    "PromptBatch",
    "PromptDefaults",
    "PromptItem",
    "Summary",
    "defaults_for",
    "finish_all",
    "finish_answer",
    "finish_value",
    "open_prompt_service",
    "parse_path",
    "prepare_all",
    "prepare_prompt_request",
    "process_multiple_prompts",
    "process_prompt_batch",
    "summarise",
]
