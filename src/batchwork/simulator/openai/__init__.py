"""OpenAI's wire: chat completions, responses, models, files and batches, as read from the fact sheet."""
