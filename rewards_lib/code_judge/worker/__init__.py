"""The side that runs inside the confinement: it starts programs, watches them, and says how they ended.

Invariant: standard library, this folder and ``rewards_lib.executor.worker`` only. A fresh interpreter loads the folder
without the rest of the library; no expected output and no other submission ever gets here.
"""
