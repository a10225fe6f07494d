"""One file for each row of the board; docs/proof.md says what a row is made of."""
