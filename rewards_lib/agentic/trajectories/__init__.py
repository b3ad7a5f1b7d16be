"""An agent's trajectory from a file to its tokens: reading, rendering, tokenising, laying out, credit and traps.

Invariant: a token has one author, and only what the policy wrote is trained on unless somebody says so.
"""
