"""The victims of quota preemption: candidates in order, the classical search, the search for fair sharing."""
