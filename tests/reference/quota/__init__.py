"""The rules of quota written naively: one object at a time, everything recomputed, nothing kept."""
