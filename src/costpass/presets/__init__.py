"""Bundled settings."""
