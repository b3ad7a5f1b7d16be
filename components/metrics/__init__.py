"""The Training metrics page's own components: from the dropped file to the charts and what can be taken away.

``files`` opens exports, ``followed`` those still being written and ``link`` those of an address; ``diagnosis`` judges
them and ``findings`` says so; ``drawing`` draws one chart, on its ``axes``, with ``label_room`` for words, ``charts``
those of the page, ``kept_charts`` each once for a ``view``; ``controls``, ``step_range``, ``thresholds``, ``facts``,
``download`` with its ``html_report``, and ``chart_link`` stand around them.
"""
