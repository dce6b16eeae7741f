"""`benchmarks.claude_client`, as the founding document has it."""

from batchwork.benchmarks.claude_client import BackendType, ClaudeCodeClient, ClaudeResponse, ClientType, MockClient

__all__ = ["BackendType", "ClaudeCodeClient", "ClaudeResponse", "ClientType", "MockClient"]
