"""``python -m robust_td`` is the command ``robust-td``."""

import sys

from ._command import main

sys.exit(main())
