"""Knowledge about entities: relations with evidence, attributes by aspect, and which seem outdated."""
