"""Reward Console: page settings, then the frame and the page that was asked for."""

from components import shell

shell.settings()
shell.run()
