"""The three phases of a request: prepare (pure), process, finish (pure)."""
