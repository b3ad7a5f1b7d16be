"""The side that runs inside: everything the confined processes execute, standard library and RestrictedPython only.

Invariant: nothing here imports the console. The folder is loaded as the package ``executor_worker`` by a fresh
interpreter that sees neither the console's modules nor its site-packages; relative imports make that possible.
"""
