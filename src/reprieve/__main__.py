"""`python -m reprieve` is `reprieve`."""

from reprieve.cli import main

main(prog_name="reprieve")
