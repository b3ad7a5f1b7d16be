"""Whether two mathematical answers are equal: an own parser in certain layers, computer algebra last.

Invariant: nothing here knows presets or scores, and all of it but the two last layers is the standard library; the
numeric layer imports mpmath and the algebra layer sympy when they are first needed.
"""
