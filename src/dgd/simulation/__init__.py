"""Worlds with known truth, and the main job shown on one of them."""
