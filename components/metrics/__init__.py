"""The Training metrics page's own components: from the dropped file to the charts and what can be taken away.

``files`` opens exports and ``followed`` those still being written, ``diagnosis`` judges them and ``findings`` says so;
``drawing`` draws one chart, ``charts`` the ones of the page; ``controls``, ``thresholds``, ``facts``, ``download`` and
``chart_link`` stand around them.
"""
