"""One module per log format; each holds one importer, named IMPORTER."""
