"""The decisions, pure: no I/O, no clock, no event loop."""
