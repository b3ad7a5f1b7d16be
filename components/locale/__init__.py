"""Message catalogues: one folder a language, and the tool that keeps them complete."""
