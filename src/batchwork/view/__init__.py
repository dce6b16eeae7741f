"""Pages over a journal: run, items, item, document; live while it grows, and as one exported file. Never writes one."""
