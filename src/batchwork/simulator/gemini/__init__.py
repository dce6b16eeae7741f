"""Gemini's wire: generateContent, counts, models, files and batches, as read from the fact sheet."""
