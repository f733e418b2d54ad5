"""The study of docs/study.md: which cells it has, how each is run, and its tables.

    python -m tools.study run --traces FOLDER     run the cells that are missing, the fastest traces first
    python -m tools.study write                   write the tables of docs/study.md from the cells

What a run found is in `cells.json` next to this file, so that no figure of the page is typed by hand.
"""
