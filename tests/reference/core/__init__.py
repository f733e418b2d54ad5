"""The rules of placement and preemption written naively: one object at a time, from the specification. Slow
on purpose.
"""

from tests.reference.core.preempt import plan

__all__ = ["plan"]
