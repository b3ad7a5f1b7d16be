"""Whether two mathematical answers are equal: an own parser in certain layers, computer algebra last.

``stated`` finds what a text states, ``text`` spells it in one way, ``equality`` decides with the help of ``structure``,
``matrices``, ``relations``, ``dates`` and ``units`` (what is more than one value), ``expression`` (the parser),
``exact``, ``values`` (high precision) and ``algebra``. ``numbers`` reads plain numbers for presets that need no more.

Invariant: nothing here knows presets or scores, and all of it but the two last layers is the standard library; the
numeric layer imports mpmath and the algebra layer sympy when they are first needed.
"""
