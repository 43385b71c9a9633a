"""What other programs did to the files: found, judged, put right."""
