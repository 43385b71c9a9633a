"""What is known of entities: relations with their evidence, attributes by aspect, and which of them seem outdated."""
