"""The engine: a coding agent's memory as one object, `Memory`, with nothing of any user interface in it."""

from core.memory import Memory

__all__ = ["Memory"]
