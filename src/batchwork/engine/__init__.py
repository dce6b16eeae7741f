"""The engine: the window, the gate, the attempt. Knows no backend and no journal by name."""
