"""The pipeline's one database: the only place of the pipeline that writes."""
