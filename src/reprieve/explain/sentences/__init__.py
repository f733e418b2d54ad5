"""Every sentence that explanations say to people.

`answers` says how something is and what it waits for, `advice` what would help and what stands in the way,
`changes` what to change. A function's name is the sentence's code, its arguments are the values in it.
"""
