"""Graders: is this answer right?"""
