"""``python -m rewards_lib``: the command line."""

import sys

from rewards_lib.cli import main

sys.exit(main())
