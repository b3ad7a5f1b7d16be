"""The code editor: our own Streamlit component around CodeMirror 6, with a plain text area where it cannot run.

Invariant: the text that the author sees is the text that the next rerun gets.
"""

from components.code_editor.editor import EditorEvent, code_editor, current_text

__all__ = ["EditorEvent", "code_editor", "current_text"]
