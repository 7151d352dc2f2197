"""`alc serve`: a page in the browser to question a corpus, and the programming interface behind it."""
