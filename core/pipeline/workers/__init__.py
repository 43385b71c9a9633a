"""Work on the queue: one worker, its loop, the types of jobs, and the asking of models."""
