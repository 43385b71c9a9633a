"""What notes and facts say of a project's code, held against the code as it is now."""

# How long an answer waits for what became of what is not where it was: rather that than a claim about what is gone.
SECONDS_OF_AN_ANSWER = 0.5
_SIGNS = ("/", "`", "()", "_", ".", "npm ", "yarn ", "bun ", "npx ", "make ", "just ")


def names_something(text: str) -> bool:
    """Whether a text may name something of a project; told at once, before anything is loaded for it."""
    return any(sign in text for sign in _SIGNS)
