"""The reward service: published versions behind HTTP, in the dialects that trainers speak.

``handler`` is payload in, rewards out, without a socket; ``server`` is the HTTP around it. Invariant: a reward that
could not be computed leaves as ``null`` or as an error, never as a number.
"""

from rewards_lib.http_guard import TOKEN_VARIABLE
from rewards_lib.serving.settings import DEFAULT_PORT, ServiceSettings, usual_port

__all__ = ["DEFAULT_PORT", "TOKEN_VARIABLE", "ServiceSettings", "usual_port"]
