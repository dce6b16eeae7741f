"""JSON Schema: what each provider takes of it, and whether an answer satisfies it."""

from batchwork.schema.answers import AnswerChecker

__all__ = ["AnswerChecker"]
