"""Documents: what they are made of, how their text is read, and how a page is fetched."""
