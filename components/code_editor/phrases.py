"""CodeMirror's own words in the visitor's language: search panel, marks, folding.

Invariant: the keys are CodeMirror's English phrases, letter for letter.
"""

from __future__ import annotations

from components.i18n import _


def phrases() -> dict[str, str]:
    """The translations CodeMirror asks for; ``$`` stands for a number. Empty where they are the English words."""
    words = _search_words() | {
        "Fold line": _("Fold line"),
        "Unfold line": _("Unfold line"),
        "folded code": _("folded code"),
        "unfold": _("unfold"),
        "Folded lines": _("Folded lines"),
        "Unfolded lines": _("Unfolded lines"),
        "to": _("to"),
        "Completions": _("Completions"),
        "Control character": _("Control character"),
        "Diagnostics": _("Diagnostics"),
        "No diagnostics": _("No diagnostics"),
        "Selection deleted": _("Selection deleted"),
        "Go to line": _("Go to line"),
        "go": _("go"),
    }
    return {word: translated for word, translated in words.items() if translated != word}


def _search_words() -> dict[str, str]:
    return {
        "Find": _("Find"),
        "Replace": _("Replace"),
        "next": _("next"),
        "previous": _("previous"),
        "all": _("all"),
        "match case": _("match case"),
        "regexp": _("regexp"),
        "by word": _("by word"),
        "replace": _("replace"),
        "replace all": _("replace all"),
        "close": _("close"),
        "current match": _("current match"),
        "on line": _("on line"),
        "replaced $ matches": _("replaced $ matches"),
        "replaced match on line $": _("replaced match on line $"),
    }
