"""`nuggets mcp`: the memory as a server of the Model Context Protocol, over standard input and output."""
