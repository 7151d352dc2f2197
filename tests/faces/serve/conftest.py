from serve_fixtures import address, chromium, served, workspace  # noqa: F401 (fixtures)
