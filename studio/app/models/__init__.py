"""The page of models and the panel of the first start: which voices of the family are here, and how to have more."""
