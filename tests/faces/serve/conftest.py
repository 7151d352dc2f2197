from serve_fixtures import address, browser, chromium, page, served, workspace  # noqa: F401 (fixtures)
