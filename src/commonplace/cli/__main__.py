"""`python -m commonplace.cli`: the command where no script is installed."""

import sys

from commonplace.cli import main

sys.exit(main())
