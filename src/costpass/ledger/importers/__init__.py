"""Importers: the logs of other tools, read as attempts."""
