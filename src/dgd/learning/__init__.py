"""From settings and days to trained parameters: starts, objective, loop, seeds."""
