"""Who sets prices: costs and markups, mergers, equilibria, and the best prices of a firm."""
