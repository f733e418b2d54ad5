"""Whose quota makes way: candidates in order, the classical search and the one for fair sharing."""
