"""What clients can do to objects: read, write, delete, bind, evict, scale. No HTTP here."""
