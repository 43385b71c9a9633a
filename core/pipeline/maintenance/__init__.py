"""What the pipeline does about its health by itself, and what a person lets it do."""
