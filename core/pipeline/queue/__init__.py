"""The queue: jobs, leases, and when a worker comes again."""
