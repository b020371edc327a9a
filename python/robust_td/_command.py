"""The console script: the command ``robust-td``."""

from __future__ import annotations

import signal
import sys

from . import _native


def main() -> int:
    # Nothing of Python runs meanwhile, so Ctrl-C ends the process as it ends the program.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    return _native.main(sys.argv[1:])


if __name__ == "__main__":
    sys.exit(main())
