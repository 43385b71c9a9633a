"""`python -m nuggets_tui` is the `nuggets` command."""

from nuggets_tui.entry import main

main()
