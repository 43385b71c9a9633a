"""What is kept before it can be lost: backups, quarantine."""
