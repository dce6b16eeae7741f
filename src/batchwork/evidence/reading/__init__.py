"""What a text says: its numbers, dates and strings, each with the values it can be read as."""
