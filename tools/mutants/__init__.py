"""Mutation testing of the core: one small wrong change at a time, and whether a test notices."""
