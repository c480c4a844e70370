"""One model per country, shop or campaign: many panels, each with a fit of its own."""
