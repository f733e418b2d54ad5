"""Whole control planes on this machine: one cluster with its controllers and page, or a manager with its workers.

What `reprieve up` and the tour start. Everything runs in one process, but the parts talk over HTTP as everywhere else.
"""
