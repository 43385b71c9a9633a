"""How healthy the pipeline is: records, scores, and what is recommended and allowed; pure."""
