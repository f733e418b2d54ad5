"""What clients can do to objects: read, write, delete; bind, evict and scale. Each works on a `Backend`, without HTTP."""
