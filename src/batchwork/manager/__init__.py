"""BatchManager: very many items in jobs, with a budget, a state that survives everything, and results on disk."""

from batchwork.manager.manager import BatchManager

__all__ = ["BatchManager"]
