"""Mistral's wire: chat completions, as OpenAI's, and jobs over files of requests, as read from the fact sheet."""
