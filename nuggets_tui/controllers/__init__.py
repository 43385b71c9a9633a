"""The topics of the main screen: each is an object that the screen owns, with its commands and what it remembers."""
