"""`python -m tdi_plugin` is `tdi`."""

from tdi_plugin.cli import main

raise SystemExit(main())
