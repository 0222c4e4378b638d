"""Models page, first-run panel, and the queue of model tasks behind them."""
