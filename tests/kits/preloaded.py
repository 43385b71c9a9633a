"""Loads what processes of tests load: of this one they are forked (kits.forked)."""

import gc
from importlib import import_module

# The product imports most of these where it needs them.
for name in (
    *("kits.forked", "numpy", "snowballstemmer", "sqlite3", "watchfiles", "markdown_it", "pytest"),
    *("textual.drivers.linux_driver", "textual.pilot", "textual.scrollbar", "textual.widgets._text_area"),
    *(
        "core.memory",
        "core.storage.store",
        "core.workspace",
        "core.graph.edits",
        "core.facts.recall",
        "core.search.explaining",
    ),
    *("core.search.ranking", "core.reflection", "core.promotion.run", "core.agents.connecting"),
    *("core.pipeline.service", "core.pipeline.workers.runner", "core.storage.recovery.repaired"),
    *("nuggets_tui.application", "nuggets_tui.cli", "nuggets_tui.screens.main", "nuggets_tui.screens.editor"),
    *("nuggets_tui.graph.near", "nuggets_tui.pipeline_session", "nuggets_tui.widgets.graph"),
):
    import_module(name)
# Whoever is forked need not copy it all to look for garbage in it.
gc.collect()
gc.freeze()
