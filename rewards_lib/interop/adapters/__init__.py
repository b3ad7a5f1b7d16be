"""The side of an exported reward that faces a trainer: one trainer a file, each with that trainer's exact signature.

Copied into exported packages; imports the runtime and the ground floor only.
"""
