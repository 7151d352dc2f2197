from serve_fixtures import workspace  # noqa: F401 (a fixture)
