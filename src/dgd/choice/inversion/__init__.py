"""Quality that no column holds: found from shares, and told from price by instruments."""
