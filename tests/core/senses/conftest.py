from sense_fixtures import dict_folder, model, semcor, wordnet  # noqa: F401 (fixtures)
