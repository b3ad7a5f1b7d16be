"""A rollout buffer as discrete events: settings in, a run and its numbers out; named systems and their rules.

Invariant: no clock is read; the same settings give the same run.
"""
