"""CustomResourceDefinitions and what they define.

definitions   from a definition to resources that can be served
serving       keeps the registry equal to the stored definitions
structural    defaults, pruning and validation by a definition's schema
"""
