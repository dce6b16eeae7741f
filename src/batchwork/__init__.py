"""Run very many language-model calls: none lost, none paid for twice, never over budget, answers in order."""
