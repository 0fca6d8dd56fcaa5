"""`python -m commonplace` is the `commonplace` command."""

import sys

from commonplace.cli import main

sys.exit(main())
