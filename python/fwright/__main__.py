"""``python -m fwright`` is the command line ``fw``."""

from __future__ import annotations

import signal
import sys

from ._fwright import run


def main() -> int:
    """Run the command line that the process was started with, and return its exit code."""
    # Ctrl-C ends the command at once, as it does in every other program.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    return run(["fw", *sys.argv[1:]])


if __name__ == "__main__":
    sys.exit(main())
