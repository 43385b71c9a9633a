"""The app in a browser: a server on this machine's loopback alone, and the process behind each page."""
