"""The Functions page's own components: one function from its first line to a published version.

``draft`` is the text that is written and what can be done with it, ``run`` tries it and ``last_run`` shows what came of
it; ``requirements``, ``network``, ``secrets`` and ``limits`` are what it may use, ``versions`` what was published.
"""
