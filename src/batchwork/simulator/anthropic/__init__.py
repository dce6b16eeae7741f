"""Anthropic's wire: messages, token counts, models and message batches, as read from the fact sheet."""
