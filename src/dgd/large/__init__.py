"""Fits of more units than are walked at once: block by block, and what all units share."""
