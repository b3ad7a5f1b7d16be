"""Trainers' wire formats: text in, a checked ``Payload`` out; one dialect a file.

Invariant: decoding raises ``InputError`` and nothing else.
"""

from rewards_lib.payloads import openrlhf, slime
from rewards_lib.payloads.reading import DIALECTS, MAX_PAYLOAD_BYTES, decode, read_payload

__all__ = ["DIALECTS", "MAX_PAYLOAD_BYTES", "decode", "openrlhf", "read_payload", "slime"]
