"""Every sentence of this room: one function for each, or a constant where nothing is filled in.

The name is the sentence's code, the arguments are its values. The texts are in
`tests/placement/test_sentences.py`, once each. Nearly all of them are Kubernetes' own words: conditions show
them, and people search for them.
"""
