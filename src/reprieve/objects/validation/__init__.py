"""The rules of admission, one module for each family of kinds.

Every rule is a generator of `Problem`s over a raw document. Documents of any shape are taken: what has the
wrong type is not looked into (the structural check names it), so that one mistake never hides another. On an
update the stored object comes along as `old`.
"""
