"""The web page: what runs where, who waits, who made way and why.

`inventory` keeps compact records of the objects a page shows, `views` turns them into JSON, `history` keeps the
last hours, `feed` fills the inventory from an API server, `app` serves it all. Nothing here decides anything: reasons
come from decision records and are only rendered.
"""
