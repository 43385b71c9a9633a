"""`python -m nuggets_tui.cli` is the `nuggets` command."""

from nuggets_tui.cli import main

main()
