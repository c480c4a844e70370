"""Frames of any kind in and out, columns checked on the way, and the steps of time."""
