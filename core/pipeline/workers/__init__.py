"""Works on the queue: one worker, its loop, the types of jobs, and calls to models."""
